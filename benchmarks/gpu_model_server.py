"""Model server: one Qwen2 GGUF behind /v1/chat/completions, fast on one GPU; on loopback only.

`python benchmarks/gpu_model_server.py MODEL.gguf NAME [--port P] [--slots N] [--context C]
[--device cuda|cpu] [--selftest]`; needs torch, gguf and tokenizers. GET /stats tells what it did.
Prompts are read one by one, each into its slot of a fixed cache; then all slots advance as a CUDA
graph that looks at a part of the cache long enough for all. A random number is of a seed and a
position alone. A prompt that fills the context is refused. A last message of the assistant is gone
on with. No schemas, no streams.
"""

import argparse
import hashlib
import json
import os
import select
import threading
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from importlib import import_module
from pathlib import Path
from queue import SimpleQueue
from typing import Any

torch: Any = import_module("torch")
F: Any = torch.nn.functional

TOP = 1024  # samples are of so many of the likeliest tokens
BUCKETS = (1024, 2048, 3072, 4096, 6144, 8192, 12288, 16384, 24576)
ROWS = 512  # of a matrix, dequantized at a time
STEPS = 8  # between two looks at what was said
NAMED = "You are Qwen, created by Alibaba Cloud. You are a helpful assistant."
SYSTEM = {"role": "system", "content": NAMED}
WORDS = (
    r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*"
    r"|\s*[\r\n]+|\s+(?!\S)|\s+"
)
BLOCK = (
    "attn_norm.weight attn_q.weight,attn_k.weight,attn_v.weight attn_q.bias,attn_k.bias,attn_v.bias"
    " attn_output.weight ffn_norm.weight ffn_gate.weight,ffn_up.weight ffn_down.weight"
)


def uniform(seed: Any, position: Any) -> Any:
    """Numbers in [0, 1), of nothing but seeds and positions (mixed as splitmix64 does)."""
    z = seed * 0x1E3779B97F4A7C15 + position * 0x5134_2543_DE82_EF95
    for shift, factor in ((30, 0x3F58476D1CE4E5B9), (27, 0x14D049BB133111EB), (31, 1)):
        z = (z ^ ((z >> shift) & ((1 << (64 - shift)) - 1))) * factor
    return ((z >> 40) & 0xFFFFFF).float() / (1 << 24)


def sampled(logits: Any, position: Any, seed: Any, heat: Any, top_p: Any) -> Any:
    """One token a row; `position` is where it will stand."""
    warm = logits.float() / heat.clamp(min=1e-4)[:, None]
    top, tokens = warm.topk(min(TOP, warm.shape[1]))
    share = (top - warm.logsumexp(-1, keepdim=True)).exp()
    below = share.cumsum(-1)
    kept = below - share < top_p[:, None]
    aim = uniform(seed, position) * (share * kept).sum(-1)
    index = torch.minimum((below <= aim[:, None]).sum(-1), kept.sum(-1) - 1) * (heat > 0)
    return tokens.gather(1, index.clamp(min=0)[:, None])[:, 0]


class Text:
    """Text to tokens and back; only the template's own marks are special."""

    def __init__(self, fields: Any) -> None:
        made: Any = import_module("tokenizers")
        kept = (f"tokenizer.ggml.{name}" for name in ("tokens", "token_type", "merges"))
        words, kinds, merges = (fields[name].contents() for name in kept)
        self.number = {word: i for i, word in enumerate(words)}
        self._silent = {i for i, kind in enumerate(kinds) if kind == 3}  # no text
        self.start, self.end = self.number["<|im_start|>"], self.number["<|im_end|>"]
        self.ends = frozenset((self.end, self.number["<|endoftext|>"]))
        pairs = [tuple(merge.split(" ", 1)) for merge in merges]
        bpe = self._bpe = made.Tokenizer(made.models.BPE(self.number, pairs))
        split = made.pre_tokenizers.Split(made.Regex(WORDS), "isolated")
        to_bytes = made.pre_tokenizers.ByteLevel(False, use_regex=False)
        bpe.normalizer, bpe.decoder = made.normalizers.NFC(), made.decoders.ByteLevel()
        bpe.pre_tokenizer = made.pre_tokenizers.Sequence([split, to_bytes])

    def prompt(self, messages: list[dict[str, Any]]) -> list[int]:
        """The tokens of a conversation, up to where the answer begins."""
        ids: list[int] = []
        begun = messages.pop()["content"] if messages[-1]["role"] == "assistant" else ""
        for message in messages if messages[0]["role"] == "system" else [SYSTEM, *messages]:
            said = self._bpe.encode(message["role"] + "\n" + message["content"]).ids
            ids += [self.start, *said, self.end, *self._bpe.encode("\n").ids]
        return [*ids, self.start, *self._bpe.encode("assistant\n" + begun).ids]

    def until(self, ids: list[int], ends: tuple[str, ...]) -> tuple[str, bool]:
        said = self.answer(ids)
        at = min((said.index(end) for end in ends if end in said), default=len(said))
        return said[:at], at < len(said)

    def answer(self, ids: list[int]) -> str:
        return str(self._bpe.decode([i for i in ids if i not in self._silent]))


class Model:
    """Weights and forward pass of a Qwen2 model; rows are tokens."""

    def __init__(self, reader: Any, device: str) -> None:
        fact = {k[6:]: v.contents() for k, v in reader.fields.items() if k.startswith("qwen2.")}
        self.width, self.longest = fact["embedding_length"], fact["context_length"]
        self.heads, self.kv = fact["attention.head_count"], fact["attention.head_count_kv"]
        self.d, self.eps = self.width // self.heads, fact["attention.layer_norm_rms_epsilon"]
        self.turns = fact["rope.freq_base"] ** -(torch.arange(0, self.d, 2).double() / self.d)
        self.device, self.dtype = device, torch.bfloat16 if device == "cuda" else torch.float32
        with ThreadPoolExecutor(os.cpu_count()) as pool:
            tasks = {
                t.name: [pool.submit(self._dequantized, t, i) for i in range(0, len(t.data), ROWS)]
                for t in reader.tensors
            }
        all_of = {name: torch.cat([one.result() for one in task]) for name, task in tasks.items()}
        self.embed, self.norm = all_of["token_embd.weight"], all_of["output_norm.weight"]
        self.unembed = all_of.get("output.weight", self.embed)
        self.blocks = [
            [torch.cat([all_of[f"blk.{i}.{x}"] for x in part.split(",")]) for part in BLOCK.split()]
            for i in range(fact["block_count"])
        ]

    def _dequantized(self, tensor: Any, row: int) -> Any:
        flat = tensor.data[row : row + ROWS].reshape(1, -1)  # one row: the library loops over rows
        numbers = import_module("gguf.quants").dequantize(flat, tensor.tensor_type).copy()
        piece = torch.from_numpy(numbers).view(-1, *map(int, tensor.shape[:-1]))
        return piece.to(device=self.device, dtype=self.dtype)

    def logits(self, tokens: Any, turn: Any, attend: Any, last: int) -> Any:
        """Scores after the `last` rows; `attend(layer, q, k, v)` also keeps keys and values."""
        x, turned, shape = F.embedding(tokens, self.embed), self.heads + self.kv, (self.width,)
        for layer, (norm, qkv, bias, out, norm2, gate_up, down) in enumerate(self.blocks):
            h = F.linear(F.rms_norm(x, shape, norm, self.eps), qkv, bias)
            h = h.view(-1, turned + self.kv, self.d)
            qk = h[:, :turned]
            qk = qk * turn[0] + qk.roll(self.d // 2, -1) * turn[1]
            seen = attend(layer, qk[:, : self.heads], qk[:, self.heads :], h[:, turned:])
            x = x + F.linear(seen.reshape(-1, self.width), out)
            gate, up = F.linear(F.rms_norm(x, shape, norm2, self.eps), gate_up).chunk(2, -1)
            x = x + F.linear(F.silu(gate) * up, down)
        return F.linear(F.rms_norm(x[-last:], shape, self.norm, self.eps), self.unembed)


@dataclass(eq=False)
class Request:
    """One answer, asked for and in the making."""

    ids: list[int]
    limit: int
    seed: int = 7
    heat: float = 0.0
    top_p: float = 0.95
    ends: frozenset[int] = frozenset()
    stop: tuple[str, ...] = ()
    text: Any = None
    output: list[int] = field(default_factory=list)
    finish: str = ""
    done: threading.Event = field(default_factory=threading.Event)
    cancelled: bool = False

    def take(self, token: int) -> bool:
        end = token in self.ends
        self.output += [] if end else [token]
        end = end or (bool(self.stop) and self.text.until(self.output[-STEPS:], self.stop)[1])
        self.finish = "stop" if end else "length" if len(self.output) >= self.limit else ""
        return bool(self.finish)


class Engine:
    """Slots, the cache, and the two steps of the work: read a prompt, advance all slots."""

    def __init__(self, model: Model, slots: int, context: int) -> None:
        self.model, self.slots, self.context = model, slots, context
        self.gpu, on = model.device == "cuda", {"device": model.device}
        turns = torch.cat([-model.turns, model.turns])
        angles = torch.outer(torch.arange(context).double(), turns)[:, None]
        self.turn = torch.stack([angles.cos(), angles.sin()]).to(dtype=model.dtype, **on)
        shape = (2, len(model.blocks), slots * context, model.kv, model.d)
        self.cache = torch.zeros(shape, dtype=model.dtype, **on)
        self.tokens, self.lengths, self.active, self.seed = torch.zeros(4, slots, **on).long()
        self.heat, self.top_p = torch.zeros(2, slots, **on)
        self.first = torch.arange(slots, **on) * context
        self.history = torch.zeros(STEPS if self.gpu else 1, slots, **on).long()
        self.said = torch.zeros(self.history.shape, dtype=torch.int64, pin_memory=self.gpu)
        self.running: dict[int, Request] = {}
        self.waiting: SimpleQueue[Request] = SimpleQueue()
        self.buckets = [*(size for size in BUCKETS if size < context), context]
        self.graphs: dict[int, Any] = {}
        self.stats, self.woke = Counter[str](), 0.0

    def _advance(self, bucket: int) -> None:
        """One token more for every active slot; what a CUDA graph holds."""
        m, places = self.model, self.first + self.lengths
        mask = ((torch.arange(bucket, device=m.device) > self.lengths[:, None]) * -1e9).to(m.dtype)

        def attend(layer: int, q: Any, k: Any, v: Any) -> Any:
            kept = self.cache[:, layer].index_copy_(1, places, torch.stack([k, v]))
            kept = kept.view(2, self.slots, self.context, m.kv, m.d)[:, :, :bucket].transpose(2, 3)
            q = q.reshape(self.slots, m.kv, -1, m.d)  # heads that share keys: rows of a query
            return F.scaled_dot_product_attention(
                q, kept[0], kept[1], attn_mask=mask[:, None, None]
            )

        logits = m.logits(self.tokens, self.turn[:, self.lengths], attend, self.slots)
        self.tokens.copy_(sampled(logits, self.lengths + 1, self.seed, self.heat, self.top_p))
        self.lengths.copy_((self.lengths + self.active).clamp(max=self.context - 1))

    def _read(self, slot: int, request: Request) -> None:
        """Fill a slot with a prompt, and sample the first token of the answer."""
        m, n, ids = self.model, len(request.ids), torch.tensor(request.ids)
        ids = ids.pin_memory().to("cuda", non_blocking=True) if self.gpu else ids
        mine = self.cache[:, :, slot * self.context :][:, :, :n]

        def attend(layer: int, q: Any, k: Any, v: Any) -> Any:
            mine[0, layer], mine[1, layer] = k, v
            k, v = (x.repeat_interleave(m.heads // m.kv, 1) for x in (k, v))
            q, k, v = (x.transpose(0, 1)[None] for x in (q, k, v))
            return F.scaled_dot_product_attention(q, k, v, is_causal=True)[0].transpose(0, 1)

        self._set(slot, n, request.seed, request.heat, request.top_p, 1)
        logits = m.logits(ids, self.turn[:, :n], attend, 1)
        by = (x[slot : slot + 1] for x in (self.lengths, self.seed, self.heat, self.top_p))
        self.tokens[slot : slot + 1] = sampled(logits, *by)

    def _set(self, slot: int, *values: float) -> None:
        buffers = self.lengths, self.seed, self.heat, self.top_p, self.active
        for buffer, value in zip(buffers, values, strict=True):
            buffer[slot].fill_(value)

    def warm_up(self) -> None:
        """Run all that will run, and make graphs of the steps; without them it is slower."""
        for n in (16, 500, min(1500, self.context - 1)):
            self._read(0, Request([100] * n, 1))
        self._set(0, 0, 0, 0, 1, 0)
        try:
            for bucket in reversed(self.buckets if self.gpu else []):
                torch.cuda.synchronize()
                with torch.cuda.stream(torch.cuda.Stream()):
                    self._advance(bucket)
                graph = torch.cuda.CUDAGraph()
                with torch.cuda.graph(graph):
                    self._advance(bucket)
                self.graphs[bucket] = graph
        except RuntimeError as error:
            self.graphs = {}
            print(f"warning: no CUDA graphs, so it is slow: {error!r}"[:500], flush=True)

    def run(self) -> None:
        """Work for ever; sleep while there is no work."""
        event = torch.cuda.Event(blocking=True) if self.gpu else None
        while True:
            while len(self.running) < self.slots and not (self.running and self.waiting.empty()):
                request = self.waiting.get()
                self.woke = self.woke if self.running else time.perf_counter()
                if not request.cancelled:
                    slot = min(set(range(self.slots)) - set(self.running))
                    self._read(slot, request)
                    self.running[slot] = request
            self._step(event)

    def _step(self, event: Any) -> None:
        """Advance by a few tokens, and see who is done."""
        longest = max(len(r.ids) + len(r.output) for r in self.running.values()) + STEPS + 1
        bucket = next(b for b in self.buckets if b >= min(longest, self.context))
        for row in self.history:
            row.copy_(self.tokens)
            self.graphs[bucket].replay() if self.graphs else self._advance(bucket)
        self.said.copy_(self.history, non_blocking=True)
        if event is not None:  # its wait sleeps, any other spins
            event.record()
            event.synchronize()
        said = self.said.T.tolist()
        for slot, request in list(self.running.items()):
            if request.cancelled or any(request.take(token) for token in said[slot]):
                self._set(slot, 0, 0, 0, 1, 0)
                self.stats.update(requests=1, cancelled=int(request.cancelled))
                self.stats.update(prompt_tokens=len(request.ids), output_tokens=len(request.output))
                self.running.pop(slot).done.set()
        now, before = time.perf_counter(), self.woke
        self.stats["busy_ms"], self.woke = self.stats["busy_ms"] + round(1e3 * (now - before)), now


class Handler(BaseHTTPRequestHandler):
    """The HTTP side; `main` sets what it serves."""

    disable_nagle_algorithm = True
    engine: Engine
    text: Text
    facts: dict[str, Any]

    def log_message(self, format: str, *args: object) -> None:
        """Nothing: the log is for the server's own words."""

    def _send(self, status: int, body: dict[str, Any]) -> None:
        data = json.dumps(body).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def do_GET(self) -> None:
        if self.path == "/stats":
            now = {"active": len(self.engine.running), "waiting": self.engine.waiting.qsize()}
            return self._send(200, {**self.facts, **self.engine.stats, **now})
        one = {"id": self.facts["model"], "owned_by": "regraph", "root": self.facts["sha256"]}
        return self._send(200, {"object": "list", "data": [one]})

    def do_POST(self) -> None:
        request = self._request(self.rfile.read(int(self.headers["Content-Length"])))
        if isinstance(request, str):
            code = "context_length_exceeded" if "context" in request else "invalid_request"
            return self._send(400, {"error": {"message": request, "type": code, "code": code}})
        self.engine.waiting.put(request)
        while not request.done.wait(0.5):
            if select.select([self.connection], [], [], 0)[0]:  # closed by who asked
                request.cancelled = True
                return None
        said, _ = self.text.until(request.output, request.stop)
        message = {"role": "assistant", "content": said}
        choice = {"index": 0, "message": message, "finish_reason": request.finish}
        usage = {"prompt_tokens": len(request.ids), "completion_tokens": len(request.output)}
        body = {"id": f"chatcmpl-{id(request)}", "object": "chat.completion", "choices": [choice]}
        return self._send(200, body | {"model": self.facts["model"], "usage": usage})

    def _request(self, data: bytes) -> Request | str:
        try:
            body = {k: v for k, v in json.loads(data).items() if v is not None}
            ids, asked = self.text.prompt(body["messages"]), body["model"]
            room = self.engine.context - len(ids)
            limit = int(body.get("max_completion_tokens", body.get("max_tokens", room)))
            heat, top_p = float(body.get("temperature", 1)), float(body.get("top_p", 1))
            stop = tuple(map(str, body.get("stop", ())))
            seed = int(body.get("seed", int.from_bytes(os.urandom(7), "big"))) & (2**63 - 1)
        except (ValueError, KeyError, TypeError, AttributeError, IndexError) as error:
            return f"malformed request: {error!r}"
        if room < 1:
            return f"a prompt of {len(ids)} tokens fills the context of {self.engine.context}"
        if asked != self.facts["model"] or body.get("stream") or body.get("n", 1) != 1 or limit < 1:
            return f"only one whole answer of {self.facts['model']} at a time, not {asked}"
        limit, top_p = min(limit, room), max(top_p, 1e-6)
        return Request(ids, limit, seed, heat, top_p, self.text.ends, stop, self.text)


def selftest(engine: Engine, text: Text) -> None:
    """See whether answers depend on company; print them and the speed, and end the process."""
    asked = ("Write a Python function that reverses a list.", "What is 17 + 25?", "Name a colour.")
    ids = [text.prompt([{"role": "user", "content": one}]) for one in asked] * 2

    def answers(*requests: Request) -> list[list[int]]:
        for request in requests:
            engine.waiting.put(request)
        return [request.output for request in requests if request.done.wait()]

    crowd = answers(*(Request(p, 64, 7, i // 3, 0.95, text.ends) for i, p in enumerate(ids)))
    alone = [answers(Request(p, 64, 7, i // 3, 0.95, text.ends))[0] for i, p in enumerate(ids)]
    for one, other in zip(alone, crowd, strict=True):
        print(json.dumps({"same": one == other, "text": text.answer(one)}))
    for count in (1, engine.slots):
        started = time.perf_counter()
        answers(*(Request(ids[0], 300, seed, 0.7) for seed in range(count)))
        speed = count * 300 / (time.perf_counter() - started)
        print(f"{count} sequences of 300 tokens: {speed:.0f} tokens/s", flush=True)
    os._exit(0 if alone == crowd else 1)


def main() -> None:
    """Load, warm up, and serve or test."""
    parser = argparse.ArgumentParser(description="serve one Qwen2 GGUF on one GPU")
    parser.add_argument("model", type=Path)
    parser.add_argument("name")
    for name, default in (("--port", 8080), ("--slots", 48), ("--context", 8192)):
        parser.add_argument(name, type=int, default=default)
    parser.add_argument("--device", choices=("cuda", "cpu"), default="cuda")
    parser.add_argument("--selftest", action="store_true")
    chosen, started = parser.parse_args(), time.perf_counter()
    sha = ThreadPoolExecutor(1).submit(lambda: hashlib.sha256(chosen.model.read_bytes()))
    torch.set_grad_enabled(False)
    torch.set_num_threads(1 if chosen.device == "cuda" else os.cpu_count() or 1)
    torch.backends.cuda.enable_cudnn_sdp(False)  # it prepares anew for every length of a prompt
    reader = import_module("gguf").GGUFReader(chosen.model)
    text, model = Text(reader.fields), Model(reader, chosen.device)
    engine = Engine(model, chosen.slots, min(chosen.context, model.longest) // 64 * 64)
    engine.warm_up()
    print(f"ready in {time.perf_counter() - started:.1f} s, {len(engine.graphs)} CUDA graphs")
    Handler.facts = {"model": chosen.name, "sha256": sha.result().hexdigest()}
    Handler.facts |= {"slots": engine.slots, "context": engine.context, "torch": torch.__version__}
    Handler.engine, Handler.text = engine, text
    ThreadingHTTPServer.request_queue_size = 512
    server = ThreadingHTTPServer(("127.0.0.1", chosen.port), Handler)
    work = (lambda: selftest(engine, text)) if chosen.selftest else server.serve_forever
    threading.Thread(target=work, daemon=True).start()
    print(f"serving {chosen.name} on http://127.0.0.1:{chosen.port}", flush=True)
    engine.run()


if __name__ == "__main__":
    main()
