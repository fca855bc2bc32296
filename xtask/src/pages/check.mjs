// Opens pages and pictures in headless Chromium: node check.mjs CHROMIUM MODULES PICTURES FILE…
//
// MODULES is a folder with axe-core and puppeteer-core. Each FILE, HTML or SVG, is opened light and dark. Nothing may be
// said on the console, no request may go anywhere but to the file itself, axe finds nothing to complain about, and every
// text in a picture stands out from what is behind it, which axe does not look at. A picture of each goes to PICTURES.
// Prints a line a file; ends with an error if there is a complaint.

import fs from "node:fs";
import path from "node:path";
import { createRequire } from "node:module";
import { pathToFileURL } from "node:url";

const [chromium, modules, pictures, ...files] = process.argv.slice(2);
const require = createRequire(path.join(path.resolve(modules), "node_modules", "x.js"));
const { default: puppeteer } = await import(pathToFileURL(require.resolve("puppeteer-core")));
const axe = fs.readFileSync(require.resolve("axe-core/axe.min.js"), "utf8");

/** The rules of WCAG 2 up to AA, of which contrast and labels are some. */
const RULES = { runOnly: { type: "tag", values: ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa"] } };
/** What AA asks of text. */
const CONTRAST_MIN = 4.5;

/** The texts of pictures that do not stand out from what is behind them; runs in the page. */
function faintTexts(contrastMin) {
    const parse = (colour) => (colour.match(/[\d.]+/g) ?? []).map(Number);
    const over = ([r, g, b, a = 1], below) => [r, g, b].map((part, index) => part * a + below[index] * (1 - a));
    const luminance = (colour) => {
        const [r, g, b] = colour.map((part) => part / 255).map((part) =>
            part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4);
        return 0.2126 * r + 0.7152 * g + 0.0722 * b;
    };
    const contrast = (one, other) => {
        const [low, high] = [luminance(one), luminance(other)].sort((a, b) => a - b);
        return (high + 0.05) / (low + 0.05);
    };
    /** What an element puts behind others, with how much of it shows. */
    const paint = (element) => {
        const style = getComputedStyle(element);
        const isShape = element instanceof SVGGeometryElement;
        const colour = isShape ? style.fill : element instanceof SVGElement && element !== document.documentElement ? "none" : style.backgroundColor;
        if (!/^rgb/.test(colour)) return null;
        const [r, g, b, a = 1] = parse(colour);
        const opacity = Number(style.opacity) * (isShape ? Number(style.fillOpacity) : 1);
        return [r, g, b, a * opacity];
    };
    const isDark = matchMedia("(prefers-color-scheme: dark)").matches;
    const canvas = isDark ? [18, 18, 18] : [255, 255, 255];
    const faint = [];
    let looked = 0;
    for (const text of document.querySelectorAll("svg text")) {
        text.scrollIntoView({ block: "center" });
        const box = text.getBoundingClientRect();
        if (box.width === 0 || text.textContent.trim() === "") continue;
        const stack = document.elementsFromPoint(box.x + box.width / 2, box.y + box.height / 2);
        const behind = stack.filter((element) => !element.closest("text")).reverse();
        const background = behind.map(paint).filter(Boolean).reduce((below, colour) => over(colour, below), canvas);
        const style = getComputedStyle(text);
        const [r, g, b, a = 1] = parse(style.fill);
        const ratio = contrast(over([r, g, b, a * Number(style.opacity)], background), background);
        looked += 1;
        if (!(ratio >= contrastMin)) faint.push(`${text.textContent.trim()}: ${ratio.toFixed(2)}`);
    }
    return { looked, faint };
}

/** Opens a file, and answers what there is to complain about. */
async function check(browser, file, scheme) {
    const complaints = [];
    const address = pathToFileURL(path.resolve(file)).href;
    const page = await browser.newPage();
    page.on("console", (message) => complaints.push(`console ${message.type()}: ${message.text()}`));
    page.on("pageerror", (error) => complaints.push(`script: ${error.message}`));
    page.on("request", (request) => {
        const isOwn = request.url() === address || request.url().startsWith("data:");
        if (!isOwn) complaints.push(`request: ${request.url()}`);
    });
    await page.setViewport({ width: 1100, height: 800 });
    await page.emulateMediaFeatures([{ name: "prefers-color-scheme", value: scheme }]);
    await page.goto(address, { waitUntil: "load" });
    const picture = path.join(pictures, `${path.basename(file).replace(/\W+/g, "-")}-${scheme}.png`);
    await page.screenshot({ path: picture, fullPage: true });
    const { looked, faint } = await page.evaluate(faintTexts, CONTRAST_MIN);
    complaints.push(...faint.map((text) => `faint: ${text}`));
    // What axe itself does to a page is not the page's doing.
    page.removeAllListeners("console").removeAllListeners("request");
    const isPage = file.endsWith(".html");
    if (!isPage) {
        // Axe knows only HTML: the picture as a page would have it.
        const svg = fs.readFileSync(file, "utf8");
        await page.goto("about:blank");
        await page.setContent(`<!doctype html><html lang="en"><title>picture</title><main><h1>Picture</h1>${svg}</main>`);
    }
    await page.evaluate(axe);
    const { violations, passes } = await page.evaluate((rules) => window.axe.run(document, rules), RULES);
    for (const violation of violations) {
        for (const node of violation.nodes) {
            complaints.push(`axe ${violation.id}: ${node.html.slice(0, 120)} ${node.failureSummary.replace(/\s+/g, " ")}`);
        }
    }
    await page.close();
    return { complaints, looked, rules: passes.length };
}

const browser = await puppeteer.launch({ executablePath: chromium, args: ["--no-sandbox", "--disable-gpu"] });
fs.mkdirSync(pictures, { recursive: true });
let count = 0;
for (const file of files) {
    for (const scheme of ["light", "dark"]) {
        const { complaints, looked, rules } = await check(browser, file, scheme);
        const verdict = complaints.length === 0 ? "ok" : `${complaints.length} complaints`;
        console.log(`${path.basename(file)} ${scheme}: ${verdict} (${rules} rules of axe passed, ${looked} texts of pictures)`);
        complaints.forEach((complaint) => console.log(`  ${complaint}`));
        count += complaints.length;
    }
}
await browser.close();
process.exitCode = count === 0 ? 0 : 1;
