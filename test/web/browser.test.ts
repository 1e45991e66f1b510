import { describe, expect, test } from 'vitest'
import { dshHome, expectValid, startWeb } from '../support/dsh.ts'
import { chromium, openPage, pickPreset, picture, press, send, shows } from '../support/page.ts'

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
    await shows(page, 'Claude Sonnet 4.6 (Thinking)')
    await picture(page, 'model-picker')
    await press(page, 'Gemini 3.8 Flash (High)')
    await page.waitForSelector('button[aria-label^="Select model, current Gemini 3.8 Flash (High)"]')
    await page.locator('textarea').fill('write a file and read it back')
    await press(page, 'Send message')
    await shows(page, 'I have created probe.txt and read it back.')
    await page.reload({ waitUntil: 'load' })
    await shows(page, 'I have created probe.txt and read it back.')
    await shows(page, 'probe.txt')
    expect(home.received()[0]?.argv).toContain('--model=gemini-3.8-flash-high')
    await page.close()
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
    await shows(page, 'Antigravity')
    await picture(page, 'preset')
    await pickPreset(page, 'Antigravity')
    await send(page, 'hello')
    await shows(page, 'HELLO_AGY')
    await page.waitForSelector('button[aria-label^="Select model, current Antigravity"]')
    expect(home.received()).toHaveLength(1)
  })
})
