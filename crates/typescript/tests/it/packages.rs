use std::fmt::Write;

use expect_test::{Expect, expect};
use rival_typescript::ModuleLink;

use crate::folder::Folder;

fn check(files: &[(&str, &str)], expected: &Expect) {
    expected.assert_eq(&Folder::new(files).problems(files[0].0));
}

/// A package with conditions, subpaths and files that import each other in a circle, as zod 4 and many others are.
const LIKE_ZOD: &[(&str, &str)] = &[
    (
        "node_modules/like-zod/package.json",
        r#"{
        "name": "like-zod", "type": "module", "main": "./index.cjs", "module": "./index.js", "types": "./index.d.cts",
        "exports": {
            "./package.json": "./package.json",
            ".": { "@like-zod/source": "./src/index.ts", "types": "./index.d.cts", "import": "./index.js", "require": "./index.cjs" },
            "./locales/*": { "types": "./locales/*.d.cts", "import": "./locales/*", "require": "./locales/*" },
            "./old": { "require": "./index.cjs" }
        }
    }"#,
    ),
    (
        "node_modules/like-zod/index.js",
        "import * as z from './classic/external.js';\nexport * from './classic/external.js';\nexport { z };\nexport default z;",
    ),
    ("node_modules/like-zod/index.cjs", "module.exports = {}"),
    (
        "node_modules/like-zod/classic/external.js",
        "export * from './schemas.js'; export * from './checks.js'; export { default as en } from '../locales/en.js';",
    ),
    (
        "node_modules/like-zod/classic/schemas.js",
        "import { check } from './checks.js'; export const object = () => check;",
    ),
    (
        "node_modules/like-zod/classic/checks.js",
        "import { object } from './schemas.js'; export const check = () => object;",
    ),
    ("node_modules/like-zod/locales/en.js", "export default () => 'en'"),
    ("node_modules/like-zod/src/index.ts", "export const wrong = 1"),
];

#[test]
fn packages_that_ship_es_modules_are_loaded() {
    let mut files = vec![(
        "flows/a.ts",
        "import { z, object, en } from 'like-zod'\nimport all from 'like-zod'\nimport de from 'like-zod/locales/en.js'\nexport const steps = [z, object, all, en, de]",
    )];
    files.extend(LIKE_ZOD);
    let folder = Folder::new(&files);
    let program = folder.load(&["flows/a.ts"]);
    assert_eq!(folder.shown(&program, "flows/a.ts"), "");
    assert_eq!(
        folder.names(&program.closure(&folder.path("flows/a.ts"))),
        [
            "flows/a.ts",
            "node_modules/like-zod/classic/checks.js",
            "node_modules/like-zod/classic/external.js",
            "node_modules/like-zod/classic/schemas.js",
            "node_modules/like-zod/index.js",
            "node_modules/like-zod/locales/en.js",
        ]
    );
}

#[test]
fn a_subpath_or_name_that_a_package_does_not_export_is_found() {
    let mut files = vec![(
        "a.ts",
        "import { objekt } from 'like-zod'\nimport 'like-zod/old'\nimport 'like-zod/classic/schemas.js'\nexport const x = objekt",
    )];
    files.extend(LIKE_ZOD);
    check(
        &files,
        &expect![[r#"
            a.ts:1:10: 'like-zod' does not export `objekt`
                Did you mean `object`?
            a.ts:2:8: the package 'like-zod' has nothing for 'like-zod/old'
                Look at `exports` in its package.json: only what is there can be loaded, by `import` or `default`.
            a.ts:3:8: the package 'like-zod' has nothing for 'like-zod/classic/schemas.js'
                Look at `exports` in its package.json: only what is there can be loaded, by `import` or `default`.
        "#]],
    );
}

#[test]
fn packages_without_exports_are_found_by_their_main_fields() {
    check(
        &[
            (
                "a.ts",
                "import one from 'one'\nimport two from '@scope/two'\nimport three from '@scope/two/three'\nexport const steps = [one, two, three]",
            ),
            ("node_modules/one/package.json", r#"{"main": "./one.js", "module": "./one.mjs"}"#),
            ("node_modules/one/one.js", "module.exports = 1"),
            ("node_modules/one/one.mjs", "export default 1"),
            ("node_modules/@scope/two/package.json", r#"{"type": "module", "main": "main"}"#),
            ("node_modules/@scope/two/main.js", "import './side-effect.js'; export default 2"),
            ("node_modules/@scope/two/side-effect.js", "globalThis.two = 2"),
            ("node_modules/@scope/two/three/index.js", "export default 3"),
        ],
        &expect![""],
    );
}

#[test]
fn packages_of_other_kinds_are_refused_at_the_import() {
    check(
        &[
            (
                "a.ts",
                "import a from './own.cjs'\nimport b from 'broken'\nimport c from 'native'\nimport d from 'missing/deep'\nimport e from '@no/such'\nimport fs from 'node:fs'\nimport { randomUUID } from 'crypto'\nimport 'zod/v3'\nexport const steps = [a, b, c, d, e, fs, randomUUID]",
            ),
            ("own.cjs", "module.exports = 1"),
            ("node_modules/broken/package.json", r#"{"main": "index.js"}"#),
            ("node_modules/broken/index.js", "exports.x = ;"),
            ("node_modules/native/package.json", r#"{"exports": "./build/native.node"}"#),
            ("node_modules/native/build/native.node", "\0"),
        ],
        &expect![[r#"
            a.ts:1:15: './own.cjs' is a CommonJS module
                Packages may be CommonJS modules; files of your own are ES modules: write `import` and `export`.
            a.ts:2:15: 'broken' cannot be loaded: node_modules/broken/index.js:1:13: Unexpected token
                The line is: exports.x = ;
            a.ts:3:15: 'native' is native code
                Workflow files run JavaScript only. Use a package without native code, or call a service.
            a.ts:4:15: cannot find the package 'missing'
                Run `npm install missing`; for a file of your own, write './missing/deep'.
            a.ts:5:15: cannot find the package '@no/such'
                Run `npm install @no/such`; for a file of your own, write './@no/such'.
            a.ts:6:16: 'node:fs' is part of Node.js, which is not here
                Workflow files do not reach files and processes. Do it in a service, or in a step written in Rust.
            a.ts:7:28: 'crypto' is part of Node.js, which is not here
                `crypto` is a global, with `randomUUID`, `getRandomValues` and `subtle`.
            a.ts:8:8: cannot find 'zod/v3'
                Rival brings zod itself: import from 'zod'.
        "#]],
    );
}

#[test]
fn what_is_wrong_inside_a_package_is_shown_at_its_import() {
    check(
        &[
            ("a.ts", "import { b } from './b'\nexport const steps = [b]"),
            ("b.ts", "// b\nimport outer from 'outer'\nexport const b = outer"),
            ("node_modules/outer/package.json", r#"{"exports": "./index.js"}"#),
            ("node_modules/outer/index.js", "import inner from 'inner';\nexport default inner"),
            ("node_modules/inner/package.json", r#"{"exports": "./index.js"}"#),
            ("node_modules/inner/index.js", "import fs from 'fs';\nexport default fs"),
        ],
        &expect![[r#"
            b.ts:2:19: 'outer' cannot be loaded: node_modules/inner/index.js:1:16: 'fs' is part of Node.js, which is not here
                Workflow files do not reach files and processes. Do it in a service, or in a step written in Rust.
        "#]],
    );
}

/// The links of the files of a package, as the file `a.ts` finds them.
fn links(files: &[(&str, &str)], expected: &Expect) {
    let folder = Folder::new(files);
    let program = folder.load(&["a.ts"]);
    let mut shown = folder.shown(&program, "a.ts");
    for module in program.modules.values() {
        for (specifier, link) in &module.links {
            let meaning = match link {
                ModuleLink::File(path) => folder.names([path])[0].clone(),
                other => format!("{other:?}"),
            };
            let kind = if module.is_common_js() { "commonjs " } else { "" };
            let name = folder.names([&module.path])[0].clone();
            let _ = writeln!(shown, "{kind}{name}: {specifier} -> {meaning}");
        }
    }
    expected.assert_eq(&shown);
}

#[test]
fn packages_are_asked_for_what_they_have_for_browsers_and_workers() {
    links(
        &[
            ("a.ts", "import 'conditions'\nimport 'field'\nimport 'map'\nexport const steps = []"),
            (
                "node_modules/conditions/package.json",
                r#"{"exports": {"node": "./node.js", "worker": "./worker.js", "import": "./other.js"}}"#,
            ),
            ("node_modules/conditions/worker.js", "export default 1"),
            ("node_modules/field/package.json", r#"{"main": "./node.js", "browser": "./browser.js"}"#),
            ("node_modules/field/browser.js", "export default 1"),
            (
                "node_modules/map/package.json",
                r#"{"main": "./main.js", "browser": {"./node.js": "./browser.js", "fs": false, "crypto": "./browser.js"}}"#,
            ),
            (
                "node_modules/map/main.js",
                "import './node.js'; import { readFile, stat } from 'fs'; import { open } from 'fs'; import 'crypto'",
            ),
            ("node_modules/map/node.js", "import 'child_process'"),
            ("node_modules/map/browser.js", "export default 1"),
        ],
        &expect![[r#"
            a.ts: conditions -> node_modules/conditions/worker.js
            a.ts: field -> node_modules/field/browser.js
            a.ts: map -> node_modules/map/main.js
            node_modules/map/main.js: ./node.js -> node_modules/map/browser.js
            node_modules/map/main.js: crypto -> node_modules/map/browser.js
            node_modules/map/main.js: fs -> Empty({"open", "readFile", "stat"})
        "#]],
    );
}

#[test]
fn what_packages_require_is_found_and_what_is_missing_is_said_when_they_ask() {
    links(
        &[
            ("a.ts", "import x, { y } from 'common'\nexport const steps = [x, y]"),
            (
                "node_modules/common/package.json",
                r#"{"name": "common", "exports": {"import": "./index.js"}}"#,
            ),
            (
                "node_modules/common/index.js",
                "const x = require('./x'); if (!x) require('fs'); try { require('gone') } catch {}; import('node:net'); \
                 require('both'); require('./data'); require('./circle.mjs'); exports.y = 010; return",
            ),
            ("node_modules/common/x.cjs", "module.exports = require('./index.js')"),
            ("node_modules/common/data.json", "{}"),
            ("node_modules/common/circle.mjs", "import './index.js'; export default 1"),
            (
                "node_modules/both/package.json",
                r#"{"exports": {"import": "./es.js", "require": "./common.js"}}"#,
            ),
            ("node_modules/both/common.js", "with (Math) exports.x = cos(0)"),
        ],
        &expect![[r#"
            a.ts: common -> node_modules/common/index.js
            node_modules/common/circle.mjs: ./index.js -> node_modules/common/index.js
            commonjs node_modules/common/index.js: ./circle.mjs -> Refused("node_modules/common/index.js: './circle.mjs' cannot be required: it is an ES module that leads back here")
            commonjs node_modules/common/index.js: ./data -> node_modules/common/data.json
            commonjs node_modules/common/index.js: ./x -> node_modules/common/x.cjs
            commonjs node_modules/common/index.js: both -> node_modules/both/common.js
            commonjs node_modules/common/index.js: fs -> Refused("node_modules/common/index.js: 'fs' is part of Node.js, which is not here. Workflow files do not reach files and processes. Do it in a service, or in a step written in Rust.")
            commonjs node_modules/common/index.js: gone -> Refused("node_modules/common/index.js: cannot find the package 'gone'. Run `npm install gone`; for a file of your own, write './gone'.")
            commonjs node_modules/common/index.js: node:net -> Refused("node_modules/common/index.js: 'node:net' is part of Node.js, which is not here. `fetch` is a global; `httpStep` is a step.")
            commonjs node_modules/common/x.cjs: ./index.js -> node_modules/common/index.js
        "#]],
    );
}
