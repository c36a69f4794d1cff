"""Mouse and keyboard: tree, search, copying, themes; accessibility."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from jsonrill_server.demo.models import models
from support import hard
from support.processes import Server

from .shown import Shown


@pytest.fixture
def recipe(shown: Shown) -> Shown:
    """The plain object, complete."""
    shown.speed(5)
    shown.slide("#piece", 6)
    shown.model("recipe")
    shown.done()
    return shown


def test_containers_are_closed_and_opened(recipe: Shown) -> None:
    recipe.line("nutrition").locator(".twist").click()
    expect(recipe.line("kcal")).to_have_count(0)
    recipe.line("nutrition").locator(".value").click()
    expect(recipe.line("kcal")).to_have_count(1)
    recipe.panel.locator(".collapse").click()
    expect(recipe.line("title")).to_have_count(1)
    expect(recipe.line("kcal")).to_have_count(0)
    recipe.panel.locator(".expand").click()
    expect(recipe.line("item")).to_have_count(5)
    recipe.choose("level", "2")
    expect(recipe.line("kcal")).to_have_count(1)
    expect(recipe.line("item")).to_have_count(0)


def test_values_and_paths_are_copied(recipe: Shown) -> None:
    recipe.line("item").nth(3).click()
    pane = recipe.panel
    assert pane.locator(".path").inner_text() == "root.ingredients[3].item"
    pane.locator(".copy-value").click()
    assert recipe.copied() == '"cumin"'
    pane.locator(".copy-path").click()
    assert recipe.copied() == "root.ingredients[3].item"
    pane.locator(".copy-pointer").click()
    assert recipe.copied() == "/ingredients/3/item"
    expect(recipe.page.locator("#live")).to_have_text("Copied the pointer")
    pane.locator(".row").first.click()
    pane.locator(".copy-value").click()
    assert json.loads(recipe.copied()) == json.loads(models()["recipe"].says())


def test_search_finds_keys_and_values_and_opens_what_they_are_folded_into(recipe: Shown) -> None:
    pane = recipe.panel
    pane.locator(".collapse").click()
    query = pane.locator(".query")
    # It jumps as one types.
    query.fill("UNIT")
    expect(pane.locator(".found")).to_have_text("1/5")
    expect(pane.locator(".current")).to_have_count(1)
    assert pane.locator(".path").inner_text() == "root.ingredients[0].unit"
    query.press("Shift+Enter")
    assert pane.locator(".path").inner_text() == "root.ingredients[4].unit"
    pane.locator(".next").click()
    assert pane.locator(".path").inner_text() == "root.ingredients[0].unit"
    query.fill("dark")
    assert pane.locator(".path").inner_text() == "root.steps[0]"
    assert recipe.page.evaluate("CSS.highlights.get('found-1').size") == 1
    query.fill("nowhere to be found")
    expect(pane.locator(".found")).to_have_text("none")
    expect(pane.locator(".next")).to_be_hidden()


def focused(page: Page) -> str:
    text: str = page.evaluate(
        "(document.activeElement.querySelector('.row') ?? document.activeElement).innerText"
    )
    return re.sub(r"\s+", " ", text.strip().removeprefix("▾").removeprefix("▸")).strip()


def test_everything_is_reached_by_keys(shown: Shown) -> None:
    page = shown.page
    page.keyboard.press("Tab")
    expect(page.locator(".skip")).to_be_focused()
    for _ in range(4):
        page.keyboard.press("Tab")
    expect(page.locator("[data-model=recipe]")).to_be_focused()
    page.keyboard.press("Enter")
    shown.line("serves").wait_for()
    page.keyboard.press("d")
    expect(page.locator("#resume")).to_be_focused()
    page.keyboard.press("Enter")
    shown.done()
    page.keyboard.press("/")
    expect(shown.panel.locator(".query")).to_be_focused()
    for _ in range(4):
        page.keyboard.press("Tab")
    assert focused(page).startswith("{")
    for key, text in (
        ("ArrowDown", "title"),
        ("ArrowDown", "serves"),
        ("ArrowUp", "title"),
        ("End", "rating"),
        ("ArrowLeft", "notes"),
        ("ArrowLeft", "notes"),
        ("ArrowUp", "2 "),
        ("ArrowLeft", "steps"),
        ("ArrowLeft", "steps"),
        ("ArrowRight", "steps"),
        ("ArrowRight", "0 "),
        ("Home", "{"),
    ):
        page.keyboard.press(key)
        assert focused(page).startswith(text), (key, focused(page))
    page.keyboard.press("ArrowDown")
    page.keyboard.press("c")
    assert shown.copied() == '"Lentil soup with roasted carrots"'
    page.keyboard.press("p")
    assert shown.copied() == "root.title"
    page.keyboard.press("v")
    expect(page.locator("#tab-updates")).to_have_attribute("aria-selected", "true")
    page.keyboard.press("l")
    expect(page.locator("#log-list")).to_be_visible()
    page.keyboard.press("?")
    expect(page.locator("#keys")).to_be_visible()
    page.keyboard.press("Tab")
    page.keyboard.press("Escape")
    expect(page.locator("#keys")).to_be_hidden()


@hard
def test_it_scrolls_along_until_somebody_scrolls_back(shown: Shown) -> None:
    page, pane = shown.page, shown.panel
    shown.model("recipe")
    place = "document.querySelector('#view-tree .body').scrollTop"
    shown.until(lambda: page.evaluate(place) > 0)
    expect(pane.locator(".growing, .caret-line").first).to_be_in_viewport()
    pane.locator(".body").hover()

    def back() -> bool:
        # As a wheel does, more than once: the first may come while the page still follows.
        page.mouse.wheel(0, -5000)
        return bool(page.evaluate(place) == 0)

    shown.until(back)
    shown.done()
    assert page.evaluate(place) == 0
    shown.speed(2)
    shown.page.locator("#restart").click()
    shown.done()
    assert page.evaluate(place) > 0


@hard
def test_single_keys_can_be_turned_off(recipe: Shown) -> None:
    recipe.page.keyboard.press("?")
    recipe.page.locator("#keys-on").uncheck()
    recipe.page.locator("#keys .main").click()
    recipe.page.locator("#stage").focus()
    recipe.page.keyboard.press("v")
    expect(recipe.page.locator("#tab-tree")).to_have_attribute("aria-selected", "true")


@hard
def test_a_choice_of_theme_is_kept(shown: Shown) -> None:
    page = shown.page
    colour = "getComputedStyle(document.body).backgroundColor"
    page.emulate_media(color_scheme="light")
    light = page.evaluate(colour)
    page.emulate_media(color_scheme="dark")
    dark = page.evaluate(colour)
    assert light != dark
    page.locator("#theme").click()
    assert page.evaluate(colour) == light
    page.reload()
    assert page.evaluate(colour) == light
    page.locator("#theme").click()
    page.emulate_media(color_scheme="light")
    assert page.evaluate(colour) == dark


# What a checker of accessibility would ask: a name for every control, ids that lead somewhere,
# one heading of the first level, a role for every line of a tree.
AUDIT = """() => {
    const seen = (element) => element.checkVisibility({ visibilityProperty: true });
    const named = (element) =>
        element.getAttribute("aria-label") || element.labels?.[0]?.textContent.trim()
        || element.textContent.trim() || element.getAttribute("title");
    const faults = [];
    for (const control of document.querySelectorAll("button, select, input, textarea, summary")) {
        if (seen(control) && !named(control)) faults.push(`no name: ${control.outerHTML}`);
    }
    for (const name of ["aria-labelledby", "aria-controls", "aria-describedby", "for", "href"]) {
        for (const element of document.querySelectorAll(`[${name}]`)) {
            if (name === "href" && !element.getAttribute(name).startsWith("#")) continue;
            for (const id of element.getAttribute(name).replace("#", "").split(" ")) {
                if (!document.getElementById(id)) faults.push(`${name}: no ${id}`);
            }
        }
    }
    const ids = [...document.querySelectorAll("[id]")].map((element) => element.id);
    if (new Set(ids).size !== ids.length) faults.push("an id twice");
    if (document.querySelectorAll("h1").length !== 1) faults.push("not one h1");
    if (!document.documentElement.lang) faults.push("no language");
    for (const tree of document.querySelectorAll("[role=tree]")) {
        if (!tree.getAttribute("aria-label")) faults.push("a tree without a name");
        const stops = tree.querySelectorAll("[tabindex='0']").length;
        if (tree.children.length && stops !== 1) faults.push(`${stops} tab stops in a tree`);
        for (const item of tree.querySelectorAll("li")) {
            const role = item.getAttribute("role");
            if (role !== "treeitem" && role !== "none") faults.push(`an li of role ${role}`);
        }
        for (const list of tree.querySelectorAll("ul")) {
            if (list.getAttribute("role") !== "group") faults.push("a list that is no group");
        }
        for (const item of tree.querySelectorAll(".container")) {
            if (!item.hasAttribute("aria-expanded")) faults.push("a container without state");
        }
    }
    for (const part of document.querySelectorAll("section, nav, main, article, [role=region]")) {
        const named = part.tagName === "MAIN" || part.getAttribute("aria-label") || part.id;
        if (!named) faults.push(`no label: <${part.tagName} class=${part.className}>`);
    }
    return faults;
}"""
# WCAG 2: 4.5 to 1 for text. Colours are painted on a canvas to be read as numbers.
CONTRAST = """() => {
    const canvas = new OffscreenCanvas(1, 1).getContext("2d", { willReadFrequently: true });
    const over = (colour, base) => {
        canvas.fillStyle = base; canvas.fillRect(0, 0, 1, 1);
        canvas.fillStyle = colour; canvas.fillRect(0, 0, 1, 1);
        const [red, green, blue] = canvas.getImageData(0, 0, 1, 1).data;
        return `rgb(${red}, ${green}, ${blue})`;
    };
    const light = (colour) => {
        const [r, g, b] = colour.match(/[0-9.]+/g).map((part) => {
            const share = part / 255;
            return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4;
        });
        return 0.2126 * r + 0.7152 * g + 0.0722 * b;
    };
    const base = (element) => {
        const layers = [];
        for (let at = element; at; at = at.parentElement) {
            layers.push(getComputedStyle(at).backgroundColor);
        }
        return layers.reverse().reduce((below, layer) => over(layer, below), "rgb(255, 255, 255)");
    };
    const found = {};
    const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
    for (let text = walker.nextNode(); text; text = walker.nextNode()) {
        const element = text.parentElement;
        if (!text.data.trim() || !element.checkVisibility({ visibilityProperty: true })) continue;
        if (element.closest("button:disabled, .unseen, option, noscript, script")) continue;
        const below = base(element);
        const [one, two] = [light(over(getComputedStyle(element).color, below)), light(below)];
        const ratio = (Math.max(one, two) + 0.05) / (Math.min(one, two) + 0.05);
        const name = `${element.tagName}.${element.className}`;
        if (ratio < 4.5) found[name] = ratio.toFixed(2);
    }
    return found;
}"""


@hard
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_what_assistive_tools_and_weak_eyes_need(shown: Shown, scheme: Any) -> None:
    page = shown.page
    page.emulate_media(color_scheme=scheme, reduced_motion="reduce")
    assert page.evaluate(AUDIT) == []
    shown.speed(5)
    shown.slide("#piece", 6)
    page.locator("#paste-box summary").click()
    for model in ("voyage", "stumble", "invalid", "harbour"):
        shown.model(model)
        shown.done()
        if page.locator("#log").get_attribute("open") is None:
            page.locator("#log summary").click()
        shown.panel.locator(".row").nth(1).click()
        assert page.evaluate(AUDIT) == [], model
        assert page.evaluate(CONTRAST) == {}, model


@hard
def test_the_checks_find_what_is_wrong(shown: Shown) -> None:
    shown.page.evaluate(
        """() => {
            document.querySelector("#models h2").style.color = "#b8b4a8";
            document.querySelector("#help").textContent = "";
            document.querySelector(".models").append(document.createElement("section"));
        }"""
    )
    assert len(shown.page.evaluate(AUDIT)) == 2
    assert list(shown.page.evaluate(CONTRAST)) == ["H2."]


@hard
def test_a_screen_reader_is_told_now_and_then(shown: Shown) -> None:
    page = shown.page
    page.evaluate(
        """() => {
            window.told = [];
            const live = document.querySelector("#live");
            new MutationObserver(() => told.push(live.textContent)).observe(
                live, { childList: true, characterData: true, subtree: true });
        }"""
    )
    assert page.locator("#live").get_attribute("aria-live") == "polite"
    shown.speed(3)
    shown.model("invalid")
    shown.done()
    told = page.evaluate("told")
    assert any(re.match("Locate broken JSON: Invalid at character", text) for text in told)
    assert any("a value is expected" in text for text in told) and len(told) < 8


@hard
def test_no_width_makes_the_page_scroll_sideways(shown: Shown) -> None:
    shown.speed(5)
    for model in ("voyage", "harbour", "hostile"):
        shown.model(model)
        shown.done()
        for width in (400, 700, 1000, 1600):
            shown.page.set_viewport_size({"width": width, "height": 800})
            assert shown.page.evaluate("document.documentElement.scrollWidth") <= width


@hard
def test_a_stream_is_opened_by_its_id(tmp_path: Any, page: Page) -> None:
    import httpx2

    with Server(tmp_path) as server:
        shown = Shown(page, server.url)
        shown.open()
        expect(page.locator("#models button").first).to_be_visible()
        many = {"many": True}
        stream = httpx2.post(f"{server.url}/v1/streams", json=many, trust_env=False).json()
        plain = {"content-type": "text/plain"}
        chunks, text = server.url + stream["urls"]["events"], '{"first": 0}\n{"a": [1'
        httpx2.post(chunks, content=text, headers=plain, trust_env=False)
        page.locator("#open-box summary").click()
        page.locator("#open-id").fill(stream["id"])
        page.locator("#open-form .main").click()
        shown.line("a").wait_for()
        assert shown.value("documents") == "[2]" and shown.value("first") == "0"
        httpx2.post(server.url + stream["urls"]["cancel"], trust_env=False)
        shown.done()
        shown.check()
        page.locator("#open-id").fill("nothing-like-this")
        page.locator("#open-form .main").click()
        expect(page.locator("#state")).to_have_text("Failed: there is no such stream")
