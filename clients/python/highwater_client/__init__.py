"""The published histories and the live signals of a Highwater service, in pandas."""

from .history import Highwater
from .seals import check_seals
from .signals import Signals, verify_webhook
from .transport import HighwaterError

__version__ = "0.2.0"  # that of the product
__all__ = ["Highwater", "HighwaterError", "Signals", "check_seals", "verify_webhook"]
