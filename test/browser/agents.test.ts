import assert from 'node:assert/strict'
import { test } from 'node:test'
import { done, startRowport } from '../harness.ts'
import { createPageKey } from '../pages/page-keys.ts'
import { patienceMs } from '../soak.ts'
import { signInByLink } from './at-the-dashboard.ts'
import { createLooks, skip } from './looks.ts'

const settings = { baseUrl: 'http://127.0.0.1:0' }

test('each key tells what an agent can do with it, and what to paste where', {
  skip,
  timeout: patienceMs,
}, async (t) => {
  const rowport = await startRowport(t, { settings })
  await rowport.connectFile('lamps', 'lamps.csv', 'name,price\nLamp,1\n')
  const asked = { accountSlug: 'acme', sheetSlug: null, mode: 'live', scope: 'read' } as const
  done(await rowport.workshop.keys.create({ ...asked, name: 'Reader' }))
  const writer = { ...asked, name: 'Writer', sheetSlug: 'lamps', scope: 'read-write' } as const
  const { value } = done(await rowport.workshop.keys.create(writer))
  await createPageKey(rowport, 'lamps')
  const open = await createPageKey(rowport, 'lamps', { origins: 'any', may: ['add'] })
  const { baseUrl } = rowport.workshop

  const { page, look } = await createLooks(t)
  await signInByLink(page, rowport, '/keys')
  const dialog = page.getByRole('dialog')
  const show = async (name: string, at = 0) => {
    await page
      .getByRole('button', { name: `Agents for ${name}`, exact: true })
      .nth(at)
      .click()
    await dialog.getByRole('heading', { name: `Use “${name}” with an agent` }).waitFor()
    return dialog.innerText()
  }
  const close = async () => {
    await page.keyboard.press('Escape')
    await dialog.waitFor({ state: 'detached' })
  }

  const reader = await show('Reader')
  assert.match(reader, /can read rows of all sheets of this account.* It sees no tool that writes\./)
  assert.ok(
    reader.includes(
      `claude mcp add --transport http rowport ${baseUrl}/mcp --header "Authorization: Bearer YOUR_API_KEY"`,
    ),
  )
  await close()

  const written = await show('Writer')
  assert.match(written, /can read, add, change and delete rows of the sheet lamps/)
  assert.match(written, /Cells can hold instructions/)
  const [, start = '', end = ''] = /begins with (\w+) and ends with (\w+)\./.exec(written) ?? []
  assert.ok(start.length > 8 && value.startsWith(start) && end !== '' && value.endsWith(end))
  assert.ok(!written.includes(value))
  for (const [name, place] of [
    ['Claude Desktop', 'claude_desktop_config.json'],
    ['Cursor', '~/.cursor/mcp.json'],
    ['VS Code', '.vscode/mcp.json'],
  ] as const) {
    await dialog.getByText(name, { exact: true }).click()
    await dialog.getByText(place).waitFor()
    assert.match(await dialog.innerText(), /Bearer YOUR_API_KEY/)
  }
  await look('65-key-for-agents')
  await page.setViewportSize({ width: 380, height: 900 })
  const hidden = await page.evaluate<number>(
    "(({ scrollWidth, clientWidth }) => scrollWidth - clientWidth)(document.querySelector('dialog[open]'))",
  )
  assert.equal(hidden, 0, 'nothing sticks out of the dialog at 380 px')
  await page.setViewportSize({ width: 1440, height: 900 })
  await close()

  const told: string[] = []
  for (const at of [0, 1]) {
    told.push(await show('page', at))
    await close()
  }
  const [bound = '', unbound = ''] = told.sort((one, other) => one.length - other.length)
  assert.match(bound, /An agent can’t use this key: it works only from the pages you listed/)
  assert.doesNotMatch(bound, /mcp add/)
  assert.match(unbound, /can add rows of the sheet lamps, within what the key allows/)
  assert.ok(unbound.includes(`Bearer ${open.value}`), 'a key that may be seen stands there in full')
  await look('66-keys-with-agents')
})
