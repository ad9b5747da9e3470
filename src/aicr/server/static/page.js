"use strict";
(() => {
  const at = (id) => document.getElementById(id);
  const form = at("ask");
  const selects = [...form.querySelectorAll(".criteria select")];
  const buttons = [...form.querySelectorAll("button")];
  let recipes = [];

  const asJson = { "Content-Type": "application/json" };
  const criteria = () =>
    Object.fromEntries(selects.filter((one) => one.value).map((one) => [one.name, one.value]));

  // What could no longer resolve with what is chosen already cannot be chosen.
  const narrow = () => {
    const chosen = criteria();
    for (const one of selects) {
      const others = Object.entries(chosen).filter(([name]) => name !== one.name);
      const fitting = recipes.filter((r) => others.every(([name, v]) => r.criteria[name] === v));
      const open = new Set(fitting.map((r) => r.criteria[one.name]));
      for (const option of one.options) {
        option.disabled = recipes.length > 0 && option.value !== "" && !open.has(option.value);
      }
    }
  };

  const base64 = (bytes) => {
    let text = "";
    for (let i = 0; i < bytes.length; i += 32768) {
      text += String.fromCharCode(...bytes.subarray(i, i + 32768));
    }
    return btoa(text);
  };

  // A document as the API takes it: its text, or an archive.
  const document_of = async (id) => {
    const file = at(id).files[0];
    if (!file) return {};
    const bytes = new Uint8Array(await file.arrayBuffer());
    const packed =
      (bytes[0] === 0x1f && bytes[1] === 0x8b) || (bytes[0] === 0x50 && bytes[1] === 0x4b);
    const content = packed
      ? { archive: base64(bytes) }
      : new TextDecoder("utf-8", { fatal: true }).decode(bytes);
    return { [id]: content, [`${id}Name`]: file.name.slice(0, 200) };
  };

  const told = (response) => {
    try {
      return JSON.parse(response.headers.get("aicr-warnings") || "[]");
    } catch {
      return [];
    }
  };

  const ask = async (path, body, accept) => {
    const response = await fetch(path, {
      method: "POST",
      headers: { ...asJson, Accept: accept },
      body: JSON.stringify(body),
    });
    if (response.ok) return response;
    let message = `The server answered ${response.status}.`;
    try {
      const error = await response.json();
      message = error.message;
      if (error.details.hint) message += `\n${error.details.hint}`;
      if (error.retryable) message += "\nTry again in a moment.";
    } catch {
      // no JSON: something between here and there answered
    }
    throw new Error(message);
  };

  // The server's markup is escaped where it is made; its scripts are left out all the same. Its
  // style is part of this page.
  const show = (markup) => {
    const body = markup.slice(markup.indexOf("<body>"));
    const page = new DOMParser().parseFromString(body, "text/html");
    for (const script of page.querySelectorAll("script")) script.remove();
    at("answer").replaceChildren(...page.body.childNodes);
    at("answer").focus({ preventScroll: true });
    at("answer").scrollIntoView({ block: "start" });
  };

  const save = async (response, name) => {
    const link = document.createElement("a");
    const url = URL.createObjectURL(await response.blob());
    link.href = url;
    link.download = name;
    link.click();
    setTimeout(() => URL.revokeObjectURL(url), 10000);
  };

  const run = async (what) => {
    const before = await document_of("from");
    const after = await document_of("to");
    const stated = criteria();
    const wanted = Object.keys(stated).length ? { criteria: stated } : {};
    const deployer = at("deployer").value ? { deployer: at("deployer").value } : {};
    const has = (one) => Object.keys(one).length > 0;
    if (what === "check" || what === "plan") {
      if (!has(before)) throw new Error("Choose what runs now: a recipe, or a bundle's archive.");
      const body = { ...before, ...(has(after) ? after : wanted), ...deployer };
      const path = what === "check" ? "/v1/upgrade-check" : "/v1/upgrade-plan";
      const response = await ask(path, body, "text/html");
      show(await response.text());
      return told(response);
    }
    if (what === "recipe") {
      const body = has(wanted) ? wanted : before;
      if (!has(body)) throw new Error("Choose criteria, or what runs now.");
      const response = await ask("/v1/recipe", body, "text/html");
      show(await response.text());
      return told(response);
    }
    if (!has(deployer)) throw new Error("Choose the deployer that will apply the bundle.");
    let source = has(wanted) ? wanted : before;
    if (has(after)) source = { recipe: after.to, recipeName: after.toName };
    if (!has(source)) throw new Error("Choose criteria, or a recipe.");
    const response = await ask("/v1/bundle", { ...source, ...deployer }, "application/zip");
    await save(response, `bundle-${deployer.deployer}.zip`);
    return ["The bundle is downloaded.", ...told(response)];
  };

  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    const what = event.submitter ? event.submitter.value : "check";
    at("failed").textContent = "";
    at("said").textContent = "Asking ...";
    for (const one of buttons) one.disabled = true;
    try {
      at("said").textContent = (await run(what)).join("\n") || "Done.";
    } catch (error) {
      at("said").textContent = "";
      at("answer").replaceChildren();
      at("failed").textContent =
        error instanceof TypeError ? "The file is not text, or the server is away." : error.message;
    } finally {
      for (const one of buttons) one.disabled = false;
    }
  });
  form.addEventListener("reset", () => {
    at("failed").textContent = at("said").textContent = "";
    at("answer").replaceChildren();
    setTimeout(narrow);
  });

  for (const one of selects) one.addEventListener("change", narrow);
  for (const zone of document.querySelectorAll(".drop")) {
    const over = (event) => {
      event.preventDefault();
      zone.classList.add("over");
    };
    zone.addEventListener("dragenter", over);
    zone.addEventListener("dragover", over);
    zone.addEventListener("dragleave", () => zone.classList.remove("over"));
    zone.addEventListener("drop", (event) => {
      event.preventDefault();
      zone.classList.remove("over");
      zone.querySelector("input").files = event.dataTransfer.files;
    });
  }
  fetch("/v1/criteria", { headers: { Accept: "application/json" } })
    .then((response) => (response.ok ? response.json() : { recipes: [] }))
    .then((found) => {
      recipes = found.recipes;
      narrow();
    })
    .catch(() => {});
})();
