"""The published histories and the live signals of a Highwater service, in pandas."""

from .history import Highwater
from .signals import Signals, verify_webhook
from .transport import HighwaterError

__all__ = ["Highwater", "HighwaterError", "Signals", "verify_webhook"]
