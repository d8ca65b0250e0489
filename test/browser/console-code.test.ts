import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { test } from 'node:test'
import { promisify } from 'node:util'
import { codeFor } from '../../web/src/pages/sheet/console/request-code.ts'
import { bearer, startRowport } from '../harness.ts'
import { findProgram } from '../servers/find-program.ts'

const run = promisify(execFile)
const withRequests = await run('python3', ['-c', 'import requests']).then(
  () => true,
  () => false,
)

/** Run as a person would who pasted it, with the key in the environment. */
const programs: Record<string, ((code: string) => [file: string, args: string[]]) | null> = {
  curl: findProgram(['curl']) ? (code) => ['sh', ['-c', code]] : null,
  fetch: (code) => [process.execPath, ['--input-type=module', '-e', code]],
  Python: withRequests ? (code) => ['python3', ['-c', code]] : null,
}

test('what the console has sent does the same as curl, fetch and Python', async (t) => {
  const rowport = await startRowport(t)
  const key = await rowport.createKey()
  const odd = `it's "5" $HOME \`x\` \\ ü 🙂`
  for (const [name, program] of Object.entries(programs)) {
    if (!program) {
      t.diagnostic(`${name} is not on this machine`)
      continue
    }
    const slug = `s-${name.toLowerCase()}`
    const sheet = await rowport.connectFile(slug, `${slug}.csv`, 'name,price\nOak table,420\nLamp,59.9\n')
    const send = async (method: string, below: string, body: string | null = null) => {
      const path = sheet.formA + below
      const { code = '' } =
        codeFor({ method, path, body }, rowport.url).find((each) => each.name === name) ?? {}
      assert.ok(!code.includes(key.value))
      const [file, args] = program(code)
      return (await run(file, args, { env: { ...process.env, ROWPORT_KEY: key.value } })).stdout
    }
    assert.match(await send('GET', `?price[gte]=10&name=Oak table&q='`), /^\[\]/)
    assert.match(await send('GET', '?price[gte]=10&sort=-price&limit=1&fields=name'), /Oak table/)
    await send('POST', '', JSON.stringify({ name: odd, price: 7 }, null, 2))
    await send('PUT', '/3', '{"price": 60}')
    await send('DELETE', '/2')
    const rows = await (await rowport.get(sheet.formA, bearer(key))).json()
    assert.deepEqual(rows, [
      { name: 'Lamp', price: 60 },
      { name: odd, price: 7 },
    ])
  }
})
