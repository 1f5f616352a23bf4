"""An Ollama server in a thread, which does what real ones (0.17 to 0.23) were measured to do.

One token a byte, `parallel` requests at a time. `tests/llm/test_contract.py` runs the same tests
against it and against a real server, so that it cannot drift from what it stands for. It has both
ways in: Ollama's own, and the OpenAI-compatible one.
"""

import hashlib
import json
import select
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from random import Random
from typing import Any

TICK = 0.01  # seconds between two looks at whether the client has gone
TOKENS_PER_TICK = 10
REPEATS = 31
"""So often a server lets a model say the same token in a row; then it ends, and gives no reason."""


@dataclass(frozen=True)
class FakeModel:
    context: int = 5120
    thinks: bool = False
    ends: bool = True


MODELS = {
    "tiny": FakeModel(),
    "babble": FakeModel(ends=False),
    "thinker": FakeModel(thinks=True),
}


@dataclass
class FakeOllama:
    version: str = "0.23.2"
    models: dict[str, FakeModel] = field(default_factory=lambda: dict(MODELS))
    chats: list[dict[str, Any]] = field(default_factory=list)  # the body of every /api/chat so far
    faults: list[str | bytes] = field(default_factory=list)
    """What goes wrong next, one a request: "die", "hang" (until the client goes), "half" (of a
    body, then the end), "half, hang", or a body to answer with ("<status> <body>")."""
    retry_after: str = ""  # the header of that name in what goes wrong
    url: str = ""
    template: str = "{{ $last }}"  # of every model
    parallel: int = 1  # how many requests are worked on at once; more wait
    together: threading.Barrier | None = None
    """No request is answered before so many are being worked on."""
    key: str = ""  # what the OpenAI-compatible way in lets in
    heads: list[dict[str, str]] = field(default_factory=list)
    """The headers of every request of that way in, names in small letters."""
    working: int = 0
    lock: threading.Lock = field(default_factory=threading.Lock)

    @contextmanager
    def slot(self) -> Iterator[None]:
        with self._slots:
            with self.lock:
                self.working += 1
            try:
                if self.together:
                    self.together.wait(10)
                yield
            finally:
                with self.lock:
                    self.working -= 1

    def __enter__(self) -> "FakeOllama":
        self._slots = threading.BoundedSemaphore(self.parallel)
        self._server = Server(self)
        self.url = f"http://127.0.0.1:{self._server.server_port}"
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.01,))
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    def stop(self) -> None:
        """As often as one likes."""
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
        return {"model_info": facts, "template": self.template}

    def tags(self) -> dict[str, Any]:
        return {
            "models": [
                {"name": f"{name}:latest", "model": f"{name}:latest", "digest": self.digest(name)}
                for name in self.models
            ]
        }

    def listed(self) -> dict[str, Any]:
        models = [
            {"id": f"{name}:latest", "object": "model", "created": 1, "owned_by": "library"}
            for name in self.models
        ]
        return {"object": "list", "data": models or None}

    def answer(self, body: dict[str, Any]) -> tuple[int, dict[str, Any]]:
        """Status and body for a chat; the caller takes the time that the tokens cost."""
        model, options = self.models[body["model"]], body.get("options", {})
        window = min(options.get("num_ctx", 4096), model.context)
        size = sum(len(message["content"].encode()) for message in body["messages"])
        if body.get("think") and not model.thinks:
            return 400, {"error": f'"{body["model"]}" does not support thinking'}
        if size > window and body.get("truncate") is False:
            return 400, {"error": "the input length exceeds the context length"}
        if _longest(body.get("format")) > 2000:
            return 500, {"error": "llama runner process no longer running"}
        size = min(size, window)
        text, done_reason = _generated(model, body, room=window - size)
        thinking = body.get("think", True) and model.thinks
        said = {"content": "", "thinking": text} if thinking else {"content": text}
        if done_reason == "repeats":
            return 200, {"message": {"role": "assistant", **said}, "done": False}
        answer = {
            "message": {"role": "assistant", **said},
            "done": True,
            "done_reason": done_reason,
            "total_duration": 1_000_000 * (1 + len(text)),
            "prompt_eval_count": size,
            "eval_count": len(text),
        }
        return 200, {key: value for key, value in answer.items() if value != 0}


def _completion(fake: FakeOllama, body: dict[str, Any]) -> tuple[int, dict[str, Any]]:
    """The same by the OpenAI-compatible way in, which knows neither window nor truncation."""
    named = body.get("response_format", {}).get("json_schema", {})
    chat = {name: body[name] for name in ("model", "messages")} | {
        "format": named.get("schema"),
        "options": {
            "num_predict": body["max_tokens"],
            "temperature": body["temperature"],
            "seed": body["seed"],
        },
    }
    status, answer = fake.answer(chat)
    if status != 200:
        return status, {"error": {"message": answer["error"], "type": "api_error"}}
    message = answer["message"]
    if "thinking" in message:
        message["reasoning"] = message.pop("thinking")
    choice = {"index": 0, "message": message, "finish_reason": answer.get("done_reason")}
    usage = {
        "prompt_tokens": answer.get("prompt_eval_count", 0),
        "completion_tokens": answer.get("eval_count", 0),
    }
    return 200, {
        "id": "chatcmpl-1",
        "object": "chat.completion",
        "model": body["model"],
        "system_fingerprint": "fp_ollama",
        "choices": [choice],
        "usage": usage,
    }


def _generated(model: FakeModel, body: dict[str, Any], room: int) -> tuple[str, str]:
    options = body["options"]
    seed = options["seed"] if options["temperature"] else 0
    drawn_from = json.dumps([body["messages"], seed, options["temperature"]])
    random = Random(None if seed == -1 else drawn_from)
    wanted = random.randint(20, 120) if model.ends else 1_000_000
    limit = options["num_predict"]
    if body.get("shift") is False:
        limit = min(limit, room)
    if body.get("format"):
        whole = json.dumps(_instance(body["format"], random))
        return whole[:limit], "stop" if len(whole) <= limit else "length"
    if not options["temperature"] and min(wanted, limit) > REPEATS:
        return "w" * REPEATS, "repeats"
    text = "".join(random.choices("abcdefghij", k=min(wanted, limit)))
    return text, "stop" if wanted <= limit else "length"


def _instance(schema: dict[str, Any], random: Random) -> object:
    """Something that obeys `schema`, but for the ranges of its numbers, which no server keeps."""
    match schema:
        case {"enum": values}:
            return random.choice(values)
        case {"type": "object", "properties": properties}:
            return {name: _instance(part, random) for name, part in properties.items()}
        case {"type": "integer"}:
            return random.randint(-1000, 1000)
        case {"type": "string"}:
            room = random.randint(0, min(schema.get("maxLength", 2000), 40))
            return "".join(random.choices("abcdefghij", k=room))
        case _:
            raise NotImplementedError(schema)


def _longest(schema: object) -> int:
    """The longest string that `schema` bounds."""
    match schema:
        case dict():
            own = schema.get("maxLength", 0)
            return max([own if isinstance(own, int) else 0, *map(_longest, schema.values())])
        case list():
            return max(map(_longest, schema), default=0)
        case _:
            return 0


class Handler(BaseHTTPRequestHandler):
    server: "Server"
    protocol_version = "HTTP/1.1"

    def log_message(self, *_: object) -> None:
        pass

    def do_GET(self) -> None:
        fake = self.server.fake
        match self.path:
            case "/api/version":
                self._send(200, {"version": fake.version})
            case "/api/tags":
                self._send(200, fake.tags())
            case "/v1/models":
                if self._let_in(fake) and not self._failed(fake):
                    self._send(200, fake.listed())
            case _:
                self._send_text(404, "404 page not found")

    def do_POST(self) -> None:
        fake = self.server.fake
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        name = body["model"]
        if self.path == "/v1/chat/completions":
            self._complete(fake, body)
        elif name not in fake.models:
            self._send(404, {"error": f"model '{name}' not found"})
        elif self.path == "/api/show":
            self._send(200, fake.show(name))
        elif self.path == "/api/chat":
            self._chat(fake, body)
        else:
            self._send_text(404, "404 page not found")

    def _failed(self, fake: FakeOllama) -> bool:
        """Whether this was to go wrong, and did."""
        fault = fake.faults.pop(0) if fake.faults else ""
        if isinstance(fault, bytes):
            self._write(200, fault.removeprefix(b"200 "))
        elif fault == "die":
            self.connection.shutdown(socket.SHUT_RDWR)
        elif fault == "hang":
            self._generate(10**9)
        elif fault.startswith("half"):
            self.send_response(200)
            self.send_header("Content-Length", "1000")
            self.end_headers()
            self.wfile.write(b'{"model": "tiny", ')
            if fault == "half":
                self.connection.shutdown(socket.SHUT_RDWR)
            else:
                self._generate(10**9)
        elif fault:
            status, _, text = fault.partition(" ")
            self._send_text(int(status), text)
        return bool(fault)

    def _chat(self, fake: FakeOllama, body: dict[str, Any]) -> None:
        fake.chats.append(body)
        with fake.slot():
            if self._failed(fake):
                return
            status, answer = fake.answer(body)
            if self._generate(answer.get("eval_count", 0)):
                self._send(status, answer)

    def _complete(self, fake: FakeOllama, body: dict[str, Any]) -> None:
        fake.chats.append(body)
        if not self._let_in(fake):
            return
        if body["model"] not in fake.models:
            message = f"model '{body['model']}' not found"
            self._send(404, {"error": {"message": message, "type": "not_found_error"}})
            return
        with fake.slot():
            if self._failed(fake):
                return
            status, answer = _completion(fake, body)
            if self._generate(answer.get("usage", {}).get("completion_tokens", 0)):
                self._send(status, answer)

    def _let_in(self, fake: FakeOllama) -> bool:
        fake.heads.append({name.lower(): value for name, value in self.headers.items()})
        if fake.key and self.headers["Authorization"] != f"Bearer {fake.key}":
            said = {"message": f"no: {self.headers['Authorization']}", "type": "invalid_api_key"}
            self._send(401, {"error": said})
            return False
        return True

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
        self._write(status, text.encode())

    def _write(self, status: int, body: bytes) -> None:
        """The client may have gone while we waited."""
        with suppress(ConnectionError):
            self.send_response(status)
            self.send_header("Content-Length", str(len(body)))
            if self.server.fake.retry_after:
                self.send_header("Retry-After", self.server.fake.retry_after)
            self.end_headers()
            self.wfile.write(body)


class Server(ThreadingHTTPServer):
    def __init__(self, fake: FakeOllama) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.fake = fake
