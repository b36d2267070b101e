//! Packages as npm installs them, in the functions of workflow files.

use serde_json::json;

use crate::support::Lab;

/// A package that is a CommonJS module, with what such modules do.
const COMMON: &[(&str, &str)] = &[
    ("node_modules/common/package.json", r#"{"name": "common", "main": "main"}"#),
    (
        "node_modules/common/main.js",
        "var even = require('./even'); var data = require('./data.json'); \
         counted = typeof counted === 'number' ? counted + 1 : 1; \
         exports.even = even; exports.odd = require('./odd'); exports.data = data; exports.runs = counted; \
         exports.isExports = this === exports; exports.env = process.env.NODE_ENV; exports.isGlobal = global === globalThis; \
         exports.place = __filename.endsWith('/common/main.js') && __dirname.endsWith('/common'); \
         exports['not-a-name'] = 1; exports.delete = 'reserved'; \
         exports.ask = function (name) { return require(name) }; exports.fs = function () { return require('fs') }; \
         exports.es = require('es'); exports.nothing = require('./nothing')",
    ),
    ("node_modules/common/nothing.js", ""),
    ("node_modules/common/data.json", r#"{"__proto__": 1, "n": 2}"#),
    (
        "node_modules/common/even.js",
        "module.exports = even; var odd = require('./odd'); function even(n) { return n === 0 || odd(n - 1) }",
    ),
    (
        "node_modules/common/odd.js",
        "var even = require('./even'); module.exports = function odd(n) { return n !== 0 && even(n - 1) }",
    ),
    ("node_modules/es/package.json", r#"{"exports": "./es.mjs"}"#),
    (
        "node_modules/es/es.mjs",
        "export default 'es'; export const seen = globalThis.seen = (globalThis.seen ?? 0) + 1",
    ),
];

#[tokio::test]
async fn common_js_modules_run_once_and_know_each_other() {
    let mut files = COMMON.to_vec();
    files.push((
        "flow.ts",
        "import common, { even, odd, runs, data } from 'common'\nimport * as all from 'common'\n\
         import { seen } from 'es'\n\
         function use() {\n  return { numbers: [even(10), odd(10)], runs, n: data.n, same: all.default === common, seen,\n    \
         facts: [common.isExports, common.isGlobal, common.place, common.env, all.delete],\n    \
         es: [common.es.default, common.es.__esModule], nothing: common.nothing }\n}\nexport const steps = [use]",
    ));
    let lab = Lab::good(&files).await;
    assert_eq!(
        lab.output("flow", json!(null)).await,
        json!({
            "numbers": [true, false], "runs": 1, "n": 2, "same": true, "seen": 1,
            "facts": [true, true, true, "production", "reserved"],
            "es": ["es", true], "nothing": {}
        })
    );
}

#[tokio::test]
async fn a_default_is_what_the_module_says_it_is() {
    let lab = Lab::good(&[
        ("node_modules/was-es/index.js", "Object.defineProperty(exports, '__esModule', { value: true }); exports.default = 1; exports.x = 2"),
        ("node_modules/function/index.js", "module.exports = function f() { return 3 }; module.exports.x = 4"),
        (
            "flow.ts",
            "import one, { x } from 'was-es'\nimport f, { x as y } from 'function'\nfunction use() { return [one, x, f(), y] }\n\
             export const steps = [use]",
        ),
    ])
    .await;
    assert_eq!(lab.output("flow", json!(null)).await, json!([1, 2, 3, 4]));
}

#[tokio::test]
async fn what_cannot_be_required_is_said_where_it_is_asked_for() {
    let mut files = COMMON.to_vec();
    let flow = "import common from 'common'\nfunction use({ input }) { return input === 'fs' ? common.fs() : common.ask(input) }\n\
                export const steps = [use]";
    files.push(("flow.ts", flow));
    let lab = Lab::good(&files).await;
    for (asked, expected) in [
        ("fs", "node_modules/common/main.js: 'fs' is part of Node.js, which is not here."),
        ("other", "node_modules/common/main.js: 'other' is not written as a literal"),
    ] {
        let error = lab.run("flow", json!(asked)).await.error.expect("it fails");
        assert!(error.message.contains(expected), "{}", error.message);
    }
}

#[tokio::test]
async fn a_package_that_throws_when_it_is_loaded_is_named() {
    let lab = Lab::new(&[
        ("node_modules/bad/index.js", "require('./inner')"),
        ("node_modules/bad/inner.js", "document.title = 1"),
        ("flow.ts", "import 'bad'\nexport const steps = [function one() {}]"),
    ])
    .await;
    let problems = lab.problems().join("\n");
    assert!(problems.contains("node_modules/bad/inner.js") && problems.contains("document"), "{problems}");
}

#[tokio::test]
async fn what_a_package_leaves_out_for_browsers_is_empty() {
    let lab = Lab::good(&[
        ("node_modules/lean/package.json", r#"{"main": "index.mjs", "browser": {"fs": false, "./big.js": false}}"#),
        (
            "node_modules/lean/index.mjs",
            "import fs, { readFile } from 'fs'; import './big.js'; export const found = [typeof fs, typeof readFile]",
        ),
        ("node_modules/lean/big.js", "throw new Error('it is left out')"),
        ("flow.ts", "import { found } from 'lean'\nexport const steps = [function one() { return found }]"),
    ])
    .await;
    assert_eq!(lab.output("flow", json!(null)).await, json!(["object", "undefined"]));
}

#[test]
fn what_is_called_a_module_of_node_is_one() {
    for name in rival_typescript::NODE_MODULES {
        let exports = rival_script_host::assets::exports(&format!("node:{name}"));
        assert!(exports.contains(&"default"), "node:{name} exports {exports:?}");
    }
}

#[tokio::test]
async fn modules_of_node_that_need_only_the_language_are_here() {
    let flow = r#"
import { EventEmitter, once } from 'node:events'
import path from 'path'
import { parse, resolve } from 'node:url'
import util, { promisify } from 'util'
import assert, { AssertionError } from 'node:assert'
import querystring from 'querystring'
import { StringDecoder } from 'string_decoder'
import { Readable, Transform, pipeline } from 'node:stream'

async function use() {
    const emitter = new EventEmitter()
    setTimeout(() => emitter.emit('x', 1), 1)
    let wrong
    try { assert.deepStrictEqual({ a: 1 }, { a: 2 }) } catch (error) { wrong = error instanceof AssertionError }
    const decoder = new StringDecoder('utf8')
    const upper = new Transform({ transform(chunk, _, done) { done(null, String(chunk).toUpperCase()) } })
    const parts = []
    for await (const part of Readable.from(['a', 'b']).pipe(upper)) parts.push(String(part))
    return {
        once: await once(emitter, 'x'),
        path: [path.join('/a', '../b', 'c.txt'), path.extname('x.ts')],
        url: [parse('https://a:b@h.example:8/p?q=1#h').path, resolve('/one/two', 'three'), parse('/p?q=1', true).query],
        util: [util.format('%s is %d', 'a', 1), await promisify((n, done) => done(null, n + 1))(1), util.isDeepStrictEqual([1], [1])],
        wrong, query: [querystring.stringify({ a: ['1', '2'], b: 'ä' }), { ...querystring.parse('a=1&a=2&b=%C3%A4+') }],
        decoder: [decoder.write(Buffer.from([0xc3])), decoder.write(Buffer.from([0xa4]))], parts: parts.join(''), pipeline: typeof pipeline,
    }
}
export const steps = [use]
"#;
    let lab = Lab::good(&[("flow.ts", flow)]).await;
    assert_eq!(
        lab.output("flow", json!(null)).await,
        json!({
            "once": [1], "path": ["/b/c.txt", ".ts"], "url": ["/p?q=1", "/one/three", { "q": "1" }],
            "util": ["a is 1", 2, true], "wrong": true,
            "query": ["a=1&a=2&b=%C3%A4", { "a": ["1", "2"], "b": "ä " }],
            "decoder": ["", "ä"], "parts": "AB", "pipeline": "function"
        })
    );
}

/// It is made when a step first asks for it, of built-ins that are frozen already.
#[tokio::test]
async fn buffers_are_bytes_with_encodings() {
    let flow = r#"
function use() {
    const bytes = Buffer.from('héllo', 'utf8')
    const number = Buffer.alloc(8)
    number.writeUInt32BE(0xdeadbeef, 0)
    number.writeInt16LE(-2, 4)
    const view = bytes.slice(0, 1)
    view[0] = 72
    return [
        bytes instanceof Uint8Array, Buffer.isBuffer(bytes), bytes.length, bytes.toString(), bytes.toString('hex'),
        Buffer.from('aGk=', 'base64').toString(), Buffer.from([251, 255]).toString('base64url'), Buffer.from('ff0g', 'hex').length,
        Buffer.concat([Buffer.from('a'), Buffer.from('b')]).toString(), number.readUInt32BE(0), number.readInt16LE(4),
        bytes.indexOf('llo'), bytes.equals(Buffer.from('Héllo')), JSON.parse(JSON.stringify(Buffer.from('a'))),
        Buffer.byteLength('é'), Buffer.from('é', 'latin1')[0], new Buffer(2).length, Buffer.compare(Buffer.from('a'), Buffer.from('b')),
        Buffer.from('é', 'utf16le').toString('utf16le'), bytes.subarray(1, 3).toString(), Buffer.alloc(3, 'ab').toString(),
        bytes.map((it) => it).constructor === Buffer,
    ]
}
export const steps = [use]
"#;
    let lab = Lab::good(&[("flow.ts", flow)]).await;
    assert_eq!(
        lab.output("flow", json!(null)).await,
        json!([
            true, true, 6, "Héllo", "48c3a96c6c6f", "hi", "-_8", 1, "ab", 0xdead_beef_u32, -2, 3, true,
            { "type": "Buffer", "data": [97] }, 2, 233, 2, -1, "é", "é", "aba", true
        ])
    );
}
