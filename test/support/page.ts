/// <reference lib="dom" />
/** The real web page in a real Chromium, and the hands of a person on it. */
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { chromium as browserType, type Page } from 'playwright-core'
import { expect, onTestFinished } from 'vitest'
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

/** How the page is looked at. */
export interface View {
  readonly width?: number
  readonly height?: number
  readonly dark?: boolean
  /** Language of the browser, such as `zh-CN`. */
  readonly language?: string
}

/** Open the page; its browser is closed after the test, and what the page complained of in its console fails the test. */
export async function openPage(
  url: string,
  { width = 1200, height = 800, dark = false, language = 'en-US' }: View = {},
): Promise<Page> {
  const browser = await browserType.launch({ executablePath: chromium ?? '', args: FLAGS })
  const complaints: string[] = []
  onTestFinished(async () => {
    await browser.close()
    expect(complaints).toEqual([])
  })
  const colorScheme = dark ? 'dark' : 'light'
  const page = await browser.newPage({ viewport: { width, height }, locale: language, colorScheme })
  page.on('console', message => {
    if (message.type() === 'error') complaints.push(message.text())
  })
  page.on('pageerror', error => void complaints.push(String(error)))
  await page.goto(url, { waitUntil: 'load' })
  return page
}

/** Where pictures of the page are kept, if they are wanted. */
const PICTURES = process.env.DSH_AGY_PICTURES

/** Keep a picture of what the page shows now, where pictures are wanted. */
export async function picture(page: Page, name: string): Promise<void> {
  if (PICTURES === undefined) return
  mkdirSync(PICTURES, { recursive: true })
  // Carets blink, and rows that come and go fade.
  await page.addStyleTag({
    content: '* { caret-color: transparent !important; animation: none !important; transition: none !important }',
  })
  await page.screenshot({ path: join(PICTURES, `${name}.png`) })
}

/** Press the first enabled button whose label or text starts with the words, once there is one. */
export async function press(page: Page, words: string): Promise<void> {
  const button = await page.waitForFunction(
    text =>
      Array.from(document.querySelectorAll('button')).find(
        each => !each.disabled && (each.getAttribute('aria-label') ?? each.textContent.trim()).startsWith(text),
      ),
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
    words,
  )
  await place.asElement()?.evaluate(each => (each as HTMLElement).click())
}

/** Wait until the page shows the words. */
export const shows = (page: Page, words: string) =>
  page.waitForFunction(text => document.body.textContent.includes(text), words, { timeout: 60_000 })

/** Pick a preset of the open list. Its session has it when the seat can be pressed again: what is sent before goes to the preset before. */
export async function pickPreset(page: Page, label: string): Promise<void> {
  await pressText(page, label)
  await page.waitForSelector(`button[aria-haspopup=menu]:enabled:has-text("${label}")`)
}

/** Pick a model of the picker. Where the model before it has efforts, the list is one step further. */
export async function pickModel(page: Page, label: string): Promise<void> {
  await press(page, 'Select model')
  const isListed = await page.waitForFunction(text => {
    const words = Array.from(document.querySelectorAll('button')).map(each => each.textContent.trim())
    return words.some(each => each.startsWith(text)) ? 'yes' : words.some(each => each.startsWith('Model')) && 'no'
  }, label)
  if ((await isListed.jsonValue()) === 'no') await press(page, 'Model')
  await press(page, label)
  await page.waitForSelector(`button[aria-label^="Select model, current ${label}"]`)
}

/** Say something in the composer. */
export async function send(page: Page, words: string): Promise<void> {
  await page.locator('textarea').fill(words)
  await press(page, 'Send message')
}

/** Open every row that can be opened. */
export async function openRows(page: Page): Promise<void> {
  await page.evaluate(() => {
    for (const row of Array.from(document.querySelectorAll<HTMLElement>('[role=button][aria-expanded=false]')))
      row.click()
  })
}
