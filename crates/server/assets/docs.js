// Shows the OpenAPI document of this server, and tries its operations. Everything that it shows is set as text.
"use strict";

const make = (tag, attributes = {}, ...children) => {
  const element = Object.assign(document.createElement(tag), attributes);
  element.append(...children.filter((child) => child !== null && child !== undefined));
  return element;
};

const named = (reference) => reference.split("/").pop();

/** A schema in one line: `RunSummary[]`, `string | null`. */
const brief = (schema) => {
  if (!schema) return "any";
  if (schema.$ref) return named(schema.$ref);
  if (schema.enum) return schema.enum.map((value) => JSON.stringify(value)).join(" | ");
  const several = schema.oneOf || schema.anyOf;
  if (several) return several.map(brief).join(" | ");
  if (schema.allOf) return schema.allOf.map(brief).join(" & ");
  const type = Array.isArray(schema.type) ? schema.type : [schema.type || "any"];
  return type.map((word) => (word === "array" ? `${brief(schema.items)}[]` : word)).join(" | ");
};

/** An example of a schema, with references followed a few levels deep. */
const example = (schema, schemas, depth = 0) => {
  if (!schema || depth > 4) return null;
  if (schema.example !== undefined) return schema.example;
  if (schema.$ref) return example(schemas[named(schema.$ref)], schemas, depth + 1);
  const several = schema.oneOf || schema.anyOf;
  if (several) return example(several.find((one) => one.type !== "null"), schemas, depth);
  if (schema.allOf) return Object.assign({}, ...schema.allOf.map((one) => example(one, schemas, depth)));
  if (schema.enum) return schema.enum[0];
  const type = Array.isArray(schema.type) ? schema.type.find((word) => word !== "null") : schema.type;
  if (type === "object") {
    const fields = Object.entries(schema.properties || {});
    return Object.fromEntries(fields.map(([name, field]) => [name, example(field, schemas, depth + 1)]));
  }
  if (type === "array") return [example(schema.items, schemas, depth + 1)];
  return { string: "text", integer: 0, number: 0, boolean: false }[type] ?? null;
};

const fieldsOf = (schema, schemas) => {
  const whole = schema && schema.$ref ? schemas[named(schema.$ref)] : schema;
  if (!whole) return [];
  const parts = whole.allOf ? whole.allOf.flatMap((part) => fieldsOf(part, schemas)) : [];
  const required = new Set(whole.required || []);
  const own = Object.entries(whole.properties || {}).map(([name, field]) => ({
    name, type: brief(field), required: required.has(name), about: field.description || "",
  }));
  return [...parts, ...own];
};

const table = (heads, rows) => {
  if (rows.length === 0) return null;
  const head = make("tr", {}, ...heads.map((text) => make("th", { textContent: text })));
  const body = rows.map((cells) => make("tr", {}, ...cells.map((cell) =>
    make("td", {}, typeof cell === "string" ? document.createTextNode(cell) : cell))));
  return make("table", {}, make("thead", {}, head), make("tbody", {}, ...body));
};

/** Text with what is between backticks set as code. */
const prose = (tag, text) =>
  make(tag, {}, ...(text || "").split("`").map((part, at) => (at % 2 ? make("code", { textContent: part }) : part)));

const code = (text) => make("code", { textContent: text });

const schemaTable = (schema, schemas) => {
  const rows = fieldsOf(schema, schemas);
  return table(["field", "type", ""], rows.map((field) =>
    [code(field.name), code(field.type + (field.required ? "" : "?")), prose("span", field.about)]));
};

/** The path of the server, where a proxy gives it one. */
let base = "";

/** A form that sends the request, and shows what comes back. */
const tryIt = (path, method, operation, schemas) => {
  const inputs = new Map();
  const rows = (operation.parameters || []).map((parameter) => {
    const input = make("input", { placeholder: parameter.example ?? "" });
    inputs.set(parameter, input);
    const label = code(parameter.name + (parameter.required ? "" : "?"));
    return [label, input, prose("span", parameter.description || brief(parameter.schema))];
  });
  const content = operation.requestBody && operation.requestBody.content["application/json"];
  const body = content && make("textarea", { value: JSON.stringify(example(content.schema, schemas), null, 2) });
  if (body) body.setAttribute("aria-label", "Request body");
  const output = make("pre", { hidden: true });
  const button = make("button", { textContent: "Send" });
  button.addEventListener("click", async () => {
    let target = base + path;
    const query = new URLSearchParams();
    const headers = {};
    for (const [parameter, input] of inputs) {
      if (parameter.in === "path") target = target.replace(`{${parameter.name}}`, encodeURIComponent(input.value));
      else if (input.value && parameter.in === "query") query.set(parameter.name, input.value);
      else if (input.value && parameter.in === "header") headers[parameter.name] = input.value;
    }
    const token = document.getElementById("token").value;
    if (token) headers.Authorization = `Bearer ${token}`;
    if (body) headers["Content-Type"] = "application/json";
    output.hidden = false;
    output.className = "";
    output.textContent = "…";
    const url = target + (query.size ? `?${query}` : "");
    try {
      const response = await fetch(url, { method: method.toUpperCase(), headers, body: body ? body.value : undefined });
      output.className = response.ok ? "" : "bad";
      output.textContent = `${response.status} ${response.statusText}\n`;
      const kind = response.headers.get("content-type") || "";
      if (kind.includes("event-stream")) return await follow(response, output);
      const text = await response.text();
      output.textContent += kind.includes("json") ? JSON.stringify(JSON.parse(text), null, 2) : text;
    } catch (error) {
      output.className = "bad";
      output.textContent = String(error);
    }
  });
  return make("div", {}, make("h3", { textContent: "Try it" }), table(["parameter", "value", ""], rows), body, button, output);
};

/** Shows a stream as it comes, the latest part of it. */
const follow = async (response, output) => {
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
  for (let part = await reader.read(); !part.done; part = await reader.read()) {
    output.textContent = (output.textContent + part.value).slice(-20000);
  }
};

const show = (path, method, operation, schemas) => {
  const scope = operation["x-required-scope"];
  const summary = make("summary", {},
    make("span", { className: `method ${method}`, textContent: method.toUpperCase() }),
    make("span", { className: "path", textContent: path }),
    scope ? make("span", { className: "scope", textContent: scope, title: "the scope that a token needs" }) : null,
    make("span", { className: "what", textContent: operation.summary || "" }));
  const details = make("details", { className: "operation" }, summary);
  details.dataset.text = `${method} ${path} ${operation.summary} ${operation.description}`.toLowerCase();
  details.addEventListener("toggle", () => {
    if (!details.open || details.children.length > 1) return;
    const content = operation.requestBody && operation.requestBody.content["application/json"];
    const answers = Object.entries(operation.responses || {}).map(([status, response]) => {
      const kinds = Object.entries(response.content || {});
      const types = kinds.map(([kind, one]) => `${brief(one.schema)} (${kind})`).join(", ");
      return [code(status), types, prose("span", response.description)];
    });
    const success = Object.entries(operation.responses || {}).find(([status]) => status.startsWith("2"));
    const shown = success && success[1].content && success[1].content["application/json"];
    details.append(make("div", {},
      prose("p", operation.description),
      content ? make("h3", { textContent: "Body" }) : null,
      content ? schemaTable(content.schema, schemas) : null,
      make("h3", { textContent: "Answers" }),
      table(["status", "type", ""], answers),
      shown && fieldsOf(shown.schema, schemas).length ? make("h3", { textContent: brief(shown.schema) }) : null,
      shown ? schemaTable(shown.schema, schemas) : null,
      tryIt(path, method, operation, schemas)));
  });
  return details;
};

const start = async () => {
  const spec = await (await fetch("openapi.json")).json();
  base = spec.servers[0].url.replace(/\/$/, "");
  const schemas = (spec.components && spec.components.schemas) || {};
  document.getElementById("about").replaceChildren(prose("span", `${spec.info.description} Version ${spec.info.version}.`));
  const operations = Object.entries(spec.paths).flatMap(([path, item]) =>
    ["get", "post", "put", "patch", "delete"].filter((method) => item[method])
      .map((method) => ({ path, method, operation: item[method] })));
  const groups = (spec.tags || []).map((tag) => {
    const own = operations.filter(({ operation }) => (operation.tags || [])[0] === tag.name);
    const heading = make("h2", { textContent: tag.name }, make("small", { textContent: tag.description || "" }));
    return make("section", {}, heading, ...own.map((one) => show(one.path, one.method, one.operation, schemas)));
  });
  document.getElementById("operations").replaceChildren(...groups);
  document.getElementById("search").addEventListener("input", (event) => {
    const wanted = event.target.value.toLowerCase().split(/\s+/).filter(Boolean);
    for (const section of groups) {
      let any = false;
      for (const one of section.querySelectorAll("details.operation")) {
        one.hidden = !wanted.every((word) => one.dataset.text.includes(word));
        any ||= !one.hidden;
      }
      section.hidden = !any;
    }
  });
};

start().catch((error) => {
  const operations = document.getElementById("operations");
  operations.replaceChildren(make("p", { className: "bad", textContent: `The document cannot be read: ${error}` }));
});
