/// <reference lib="dom" />
import puppeteer, { type Page } from 'puppeteer-core'
import { describe, expect, onTestFinished, test } from 'vitest'
import { findChromium } from '../../scripts/chromium.mjs'
import { dshHome, expectValid, startWeb } from '../support/dsh.ts'

const chromium = findChromium()
const FLAGS = [
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
]

async function openPage(url: string): Promise<Page> {
  const browser = await puppeteer.launch({ executablePath: chromium ?? '', args: FLAGS })
  onTestFinished(() => browser.close())
  const page = await browser.newPage()
  await page.setViewport({ width: 1200, height: 800 })
  await page.goto(url, { waitUntil: 'load' })
  return page
}

/** Press the first enabled button whose label or text starts with the words, once there is one. */
async function press(page: Page, words: string): Promise<void> {
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
async function pressText(page: Page, words: string): Promise<void> {
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
const shows = (page: Page, words: string) =>
  page.waitForFunction(text => document.body.textContent.includes(text), { timeout: 20_000 }, words)

// Left out only where no Chromium is installed and none can be.
describe.runIf(chromium !== undefined)('in the real page', () => {
  test('a model of Antigravity is picked, answers, and looks the same after a reload', async () => {
    const home = dshHome()
    const web = await startWeb(home, home.overlay({ probe: '02-two-tools' }))
    await web.rpc('workspace.create', { path: home.cwd, name: 'ws' })
    const page = await openPage(web.base)
    await press(page, 'Continue')
    await press(page, 'Select model')
    await press(page, 'Model')
    await press(page, 'Gemini 3.8 Flash (High)')
    await page.waitForSelector('button[aria-label^="Select model, current Gemini 3.8 Flash (High)"]')
    await page.locator('textarea').fill('write a file and read it back')
    await press(page, 'Send message')
    await shows(page, 'I have created probe.txt and read it back.')
    await page.reload({ waitUntil: 'load' })
    await shows(page, 'I have created probe.txt and read it back.')
    await shows(page, 'write_to_file')
    expect(home.received()[0]?.argv).toContain('--model=gemini-3.8-flash-high')
    await web.stop()
    for (const events of (await home.logs()).values()) expectValid(events)
  })

  test('the preset is offered, and the model seat names what really ran', async () => {
    const home = dshHome()
    const web = await startWeb(home, home.overlay({ config: { auxiliary: 'off' } }))
    await web.rpc('workspace.create', { path: home.cwd, name: 'ws' })
    const page = await openPage(web.base)
    await press(page, 'Continue')
    await press(page, 'Standard mode')
    await pressText(page, 'Antigravity')
    await page.locator('textarea').fill('hello')
    await press(page, 'Send message')
    await shows(page, 'HELLO_AGY')
    await page.waitForSelector('button[aria-label^="Select model, current Antigravity"]')
    expect(home.received()).toHaveLength(1)
  })
})
