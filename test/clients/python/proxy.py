"""A proxy before a service: it counts requests, may answer by itself, alter what it passes on, and be closed."""

import http.client
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import urlsplit

HOPS = {"connection", "keep-alive", "transfer-encoding", "date", "content-length"}


class Proxy:
    """`answer(path)` gives (status, headers, body), or None to pass a request on; `alter(path, body)` another body."""

    def __init__(self, upstream="http://127.0.0.1:1", answer=lambda path: None, alter=lambda path, body: body):
        self.paths, self.headers = [], []
        proxy, upstream = self, urlsplit(upstream)

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self):
                proxy.paths.append(self.path)
                proxy.headers.append(dict(self.headers))
                status, headers, body = answer(self.path) or proxy.forward(upstream, self)
                body = alter(self.path, body)
                self.send_response(status)
                for name, value in headers.items():
                    self.send_header(name, value)
                if "content-length" not in {name.lower() for name in headers}:
                    self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            do_POST = do_GET  # what is passed on is read

            def log_message(self, *_):
                pass

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server.server_port}"
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    @staticmethod
    def forward(upstream, request):
        connection = http.client.HTTPConnection(upstream.netloc, timeout=120)
        connection.request("GET", request.path, headers={**request.headers, "Accept-Encoding": "identity"})
        response = connection.getresponse()
        headers = {name: value for name, value in response.getheaders() if name.lower() not in HOPS}
        return response.status, headers, response.read()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.server.shutdown()
        self.server.server_close()
