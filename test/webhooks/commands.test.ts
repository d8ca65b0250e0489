import assert from 'node:assert/strict'
import { test } from 'node:test'
import { cli } from '../../src/cli.ts'
import { done } from '../harness.ts'
import { startFollowed } from './following.ts'
import { startReceiver, until, upTo } from './receiver.ts'

test('webhooks by command, beside a running server', async (t) => {
  const { rowport, addRows } = await startFollowed(t)
  const receiver = await startReceiver(t)
  const env = {
    ROWPORT_DATA: rowport.folder,
    ROWPORT_SECRET: 'the secret of the tests',
    ROWPORT_WEBHOOK_ALLOW: '127.0.0.1',
  }
  const run = async (line: string) => {
    const [stdout, stderr] = [[] as string[], [] as string[]]
    const code = await cli(line.split(' '), {
      env,
      stdout: { write: (text) => stdout.push(text) },
      stderr: { write: (text) => stderr.push(text) },
    })
    return { code, stdout: stdout.join(''), stderr: stderr.join('') }
  }
  const json = async (line: string) => {
    const { code, stdout, stderr } = await run(`${line} --json`)
    assert.equal(code, 0, stderr)
    return JSON.parse(stdout)
  }
  const refused = async (line: string, said: RegExp) => {
    const { code, stderr } = await run(line)
    assert.equal(code, 1, line)
    assert.match(stderr, said)
  }
  await refused('webhook add acme/stock', /A webhook needs a --url/)
  await refused('webhook add acme/none --url https://1.1.1.1/', /there is no sheet "acme\/none"/)
  await refused('webhook add acme/stock --url https://10.0.0.1/', /not on the public internet/)
  await refused('webhook add acme/stock --url http://1.1.1.1/', /must begin with https/)
  await refused(`webhook add acme/stock --url ${receiver.url} --kinds moved`, /kinds are added, updated/)
  await refused(`webhook add acme --url ${receiver.url} --kinds added`, /for the changes of a sheet/)
  assert.match((await run('webhook list acme')).stdout, /^No webhooks in acme yet/)

  const { id, secret, ...made } = await json(`webhook add acme/stock --url ${receiver.url} --columns price`)
  assert.match(secret, /^whsec_[A-Za-z0-9+/]{43}=$/)
  assert.deepEqual([made.sheet, made.state, made.columns, made.kinds], ['stock', 'on', ['price'], null])
  receiver.secrets = [secret]
  assert.equal((await json(`webhook test ${id}`)).status, 200)
  assert.equal(receiver.received[0]?.type, 'webhook.test')
  await json(`webhook pause ${id}`)
  await addRows(3)
  assert.deepEqual(
    (await json('webhook list acme')).map(({ state, waiting }: Record<string, unknown>) => [state, waiting]),
    [['paused', 3]],
  )
  await json(`webhook resume ${id}`)
  await until('all came', () => receiver.changes().length === 3)
  const rotated = await json(`webhook rotate ${id}`)
  assert.notEqual(rotated.secret, secret)
  receiver.secrets = [rotated.secret]
  receiver.received.length = 0
  await refused(`webhook replay ${id}`, /Say from where/)
  await refused(`webhook replay ${id} --since nowhere`, /nothing is kept after that point/)
  await json(`webhook replay ${id} --since earliest`)
  await until('all came again', () => receiver.changes().length === 3)
  assert.deepEqual(receiver.changes(), upTo(3))
  // The command's clock is not the test's, so they are not in the order of time.
  const deliveries: { type: string; status: number; answer: string }[] = await json(
    `webhook deliveries ${id}`,
  )
  const last = deliveries.find(({ type }) => type === 'rows.changed')
  assert.deepEqual([last?.status, last?.answer], [200, 'thanks'])
  assert.match((await run(`webhook deliveries ${id}`)).stdout, /^AT [\s\S]*rows\.changed .* 200 .* thanks\n/)
  receiver.behavior = () => ({ status: 500 })
  await refused(`webhook test ${id}`, /the test was not taken: it returned 500/)
  await json(`webhook remove ${id}`)
  await refused(`webhook test ${id}`, /there is no webhook with the id/)
  const account = done(await rowport.workshop.accounts.find('acme'))
  const actions = (await rowport.workshop.audit.of(account.id)).map(({ action }) =>
    action.replace('webhook.', ''),
  )
  assert.deepEqual(actions.sort(), ['added', 'paused', 'removed', 'replayed', 'resumed', 'rotated'])
  const stored = JSON.stringify(await rowport.workshop.audit.of(account.id))
  assert.ok(!stored.includes('whsec_'))
})
