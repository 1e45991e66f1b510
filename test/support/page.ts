/// <reference lib="dom" />
/** The real web page in a real Chromium, and the hands of a person on it. */
import puppeteer, { type Page } from 'puppeteer-core'
import { onTestFinished } from 'vitest'
import { findChromium } from '../../scripts/chromium.mjs'

/** Where none is installed and none can be, tests of the page are left out. */
export const chromium = findChromium()
const FLAGS = [
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
]

/** Open the page; its browser is closed after the test. */
export async function openPage(url: string): Promise<Page> {
  const browser = await puppeteer.launch({ executablePath: chromium ?? '', args: FLAGS })
  onTestFinished(() => browser.close())
  const page = await browser.newPage()
  await page.setViewport({ width: 1200, height: 800 })
  await page.goto(url, { waitUntil: 'load' })
  return page
}

/** Press the first enabled button whose label or text starts with the words, once there is one. */
export async function press(page: Page, words: string): Promise<void> {
  const button = await page.waitForFunction(
    text =>
      Array.from(document.querySelectorAll('button')).find(
        each => !each.disabled && (each.getAttribute('aria-label') ?? each.textContent.trim()).startsWith(text),
      ),
    {},
    words,
  )
  // Pressed in the page itself: a menu that opens or closes in the meantime would swallow a click of the mouse.
  await button.asElement()?.evaluate(each => (each as HTMLElement).click())
}

/** Press whatever shows exactly these words, once it is there. */
export async function pressText(page: Page, words: string): Promise<void> {
  const place = await page.waitForFunction(
    text =>
      Array.from(document.querySelectorAll('*')).find(
        each => each.children.length === 0 && each.textContent.trim() === text,
      ),
    {},
    words,
  )
  await place.asElement()?.evaluate(each => (each as HTMLElement).click())
}

/** Wait until the page shows the words. */
export const shows = (page: Page, words: string) =>
  page.waitForFunction(text => document.body.textContent.includes(text), { timeout: 20_000 }, words)

/** Pick a model of the picker. */
export async function pickModel(page: Page, label: string): Promise<void> {
  await press(page, 'Select model')
  await press(page, 'Model')
  await press(page, label)
  await page.waitForSelector(`button[aria-label^="Select model, current ${label}"]`)
}
