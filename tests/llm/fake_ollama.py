"""An Ollama server in a thread, which does what real ones (0.17 to 0.23) were measured to do.

One token a byte, one request at a time. `tests/llm/test_contract.py` runs the same tests against it
and against a real server, so that it cannot drift from what it stands for.
"""

import hashlib
import json
import random
import select
import socket
import threading
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

TICK = 0.01
"""Seconds between two looks at whether the client has gone."""
TOKENS_PER_TICK = 20


@dataclass(frozen=True)
class FakeModel:
    context: int = 16_384
    thinks: bool = False
    ends: bool = True


MODELS = {
    "tiny": FakeModel(),
    "babble": FakeModel(ends=False),
    "thinker": FakeModel(thinks=True),
    "small": FakeModel(context=6000),
}


@dataclass
class FakeOllama:
    version: str = "0.23.2"
    models: dict[str, FakeModel] = field(default_factory=lambda: dict(MODELS))
    chats: list[dict[str, Any]] = field(default_factory=list)
    """The body of every /api/chat so far."""
    faults: list[str] = field(default_factory=list)
    """What goes wrong next, one a chat: "die", or a body to answer with ("<status> <text>")."""
    url: str = ""
    slot: threading.Lock = field(default_factory=threading.Lock)

    def __enter__(self) -> "FakeOllama":
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), _handler(self))
        self.url = f"http://127.0.0.1:{self._server.server_port}"
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.01,))
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()

    def digest(self, name: str) -> str:
        return hashlib.sha256(name.encode()).hexdigest()

    def show(self, name: str) -> dict[str, Any]:
        facts = {
            "general.architecture": "llama",
            "llama.context_length": self.models[name].context,
        }
        return {"model_info": facts}

    def tags(self) -> dict[str, Any]:
        return {
            "models": [
                {"name": f"{name}:latest", "model": f"{name}:latest", "digest": self.digest(name)}
                for name in self.models
            ]
        }

    def answer(self, body: dict[str, Any]) -> tuple[int, dict[str, Any]]:
        """Status and body for a chat; the caller takes the time that the tokens cost."""
        model = self.models[body["model"]]
        options = body.get("options", {})
        if body.get("think") and not model.thinks:
            return 400, {"error": f'"{body["model"]}" does not support thinking'}
        for name in ("num_ctx", "num_predict", "seed"):
            if not isinstance(options.get(name, 0), int):
                return 500, {"error": f'option "{name}" must be of type integer'}
        window = min(options.get("num_ctx", 4096), model.context)
        size = sum(len(message["content"].encode()) for message in body["messages"])
        if size > window and body.get("truncate") is False:
            return 400, {"error": "the input length exceeds the context length"}
        size = min(size, window)
        seed = options.get("seed", -1)
        source = random.Random(
            None if seed == -1 else json.dumps([body["messages"], seed, options["temperature"]])
        )
        wanted = source.randint(20, 120) if model.ends else 10**9
        room = window - size if body.get("shift") is False else 10**9
        count = min(wanted, room, options.get("num_predict", -1) % 10**9)
        text = "".join(source.choice("abcdefghij") for _ in range(count))
        thinking = body.get("think", True) and model.thinks
        message = {"role": "assistant", "content": "" if thinking else text}
        if thinking:
            message["thinking"] = text
        answer = {
            "message": message,
            "done": True,
            "done_reason": "stop" if count == wanted else "length",
            "total_duration": 1_000_000 * (1 + count),
            "prompt_eval_count": size,
            "eval_count": count,
        }
        return 200, {key: value for key, value in answer.items() if value != 0}


def _handler(fake: FakeOllama) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        def log_message(self, *_: object) -> None:
            pass

        def do_GET(self) -> None:
            match self.path:
                case "/api/version":
                    self._send(200, {"version": fake.version})
                case "/api/tags":
                    self._send(200, fake.tags())
                case _:
                    self._send_text(404, "404 page not found")

        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            name = body["model"]
            if name not in fake.models:
                self._send(404, {"error": f"model '{name}' not found"})
            elif self.path == "/api/show":
                self._send(200, fake.show(name))
            elif self.path == "/api/chat":
                self._chat(body)
            else:
                self._send_text(404, "404 page not found")

        def _chat(self, body: dict[str, Any]) -> None:
            fake.chats.append(body)
            fault = fake.faults.pop(0) if fake.faults else ""
            if fault == "die":
                self.connection.shutdown(socket.SHUT_RDWR)
            elif fault:
                status, _, text = fault.partition(" ")
                self._send_text(int(status), text)
            else:
                with fake.slot:
                    status, answer = fake.answer(body)
                    if self._generate(answer.get("eval_count", 0)):
                        self._send(status, answer)

        def _generate(self, tokens: int) -> bool:
            """Take the time that `tokens` cost; False where the client has gone meanwhile."""
            for _ in range(0, tokens, TOKENS_PER_TICK):
                gone, _, _ = select.select([self.connection], [], [], TICK)
                if gone and not self.connection.recv(1, socket.MSG_PEEK):
                    return False
            return True

        def _send(self, status: int, body: dict[str, Any]) -> None:
            self._send_text(status, json.dumps(body))

        def _send_text(self, status: int, text: str) -> None:
            self.send_response(status)
            self.send_header("Content-Length", str(len(text.encode())))
            self.end_headers()
            self.wfile.write(text.encode())

    return Handler
