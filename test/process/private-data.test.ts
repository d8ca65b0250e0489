import assert from 'node:assert/strict'
import { statSync } from 'node:fs'
import fsPromises, { chmod, mkdir, writeFile } from 'node:fs/promises'
import { syncBuiltinESMExports } from 'node:module'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { closeToOthers } from '../../src/secrets/private-data.ts'
import { freshPlace, logged, type Place } from './running.ts'

const skip = process.platform === 'win32' ? 'Windows has no such modes' : false
const folders = ['.', 'sheets']
const files = ['rowport.db', 'rowport.db-wal', 'rowport.db-shm', 'secret', 'sheets/products.csv']

function modesIn({ dataFolder }: Pick<Place, 'dataFolder'>, names = [...folders, ...files]): string[] {
  return names.map((name) => `${name} ${(statSync(join(dataFolder, name)).mode & 0o777).toString(8)}`)
}

const closed = [...folders.map((name) => `${name} 700`), ...files.map((name) => `${name} 600`)]

for (const umask of ['000', '022', '077', '027']) {
  test(`under the umask ${umask} nobody but the server’s user can read what it keeps`, {
    skip,
  }, async (t) => {
    const place = await freshPlace(t)
    const server = await startUnder(place, umask)
    t.diagnostic(`umask ${umask}: ${modesIn(place).join(', ')}`)
    assert.deepEqual(modesIn(place), closed)
    assert.deepEqual(logged(server.stderr(), 'data_open_to_others'), [])
  })
}

test('what is open from before is closed at the start, and the doctor says when it was opened since', {
  skip,
}, async (t) => {
  const place = await freshPlace(t)
  const upload = join(place.dataFolder, 'files', 'acc_1', 'x.csv')
  await mkdir(join(place.dataFolder, 'files', 'acc_1'), { recursive: true })
  await writeFile(upload, 'a\n')
  const others = join(place.dataFolder, 'connected.csv')
  await writeFile(others, 'a\n')
  await chmod(others, 0o664)
  const first = await startUnder(place, '000')
  first.child.kill('SIGTERM')
  await first.ended
  for (const name of ['rowport.db', 'sheets/products.csv', 'secret']) {
    await chmod(join(place.dataFolder, name), 0o644)
  }
  for (const name of ['.', 'files', 'files/acc_1', 'sheets']) await chmod(join(place.dataFolder, name), 0o755)
  await chmod(upload, 0o644)
  const told = await place.rowportHere(['doctor'])
  assert.equal(told.code, 1)
  assert.match(
    told.stdout.replaceAll(/\s+/g, ' '),
    /can be read by other users of this machine, and 6 more in it/,
  )
  const second = await startUnder(place, '022')
  assert.deepEqual(modesIn(place), closed)
  assert.deepEqual(modesIn(place, ['files', 'files/acc_1', 'files/acc_1/x.csv']), [
    'files 700',
    'files/acc_1 700',
    'files/acc_1/x.csv 600',
  ])
  assert.deepEqual(modesIn(place, ['connected.csv']), ['connected.csv 664'], 'that is its owner’s to say')
  assert.equal((await place.rowportHere(['doctor'])).code, 0)
  assert.deepEqual(logged(second.stderr(), 'data_open_to_others'), [])
})

test('what belongs to somebody else is left as it is, and told', { skip }, async (t) => {
  const place = await freshPlace(t)
  await mkdir(place.dataFolder)
  await writeFile(join(place.dataFolder, 'rowport.db'), '', { mode: 0o600 })
  await chmod(place.dataFolder, 0o755)
  notOurs(t)
  assert.deepEqual(await closeToOthers(place.dataFolder), [place.dataFolder])
})

/** As the operating system answers whoever does not own a file; tests often run as root, who always may. */
function notOurs(t: TestContext): void {
  t.mock.method(fsPromises, 'chmod', async () => {
    throw Object.assign(new Error('operation not permitted'), { code: 'EPERM' })
  })
  syncBuiltinESMExports()
  t.after(() => {
    t.mock.restoreAll()
    syncBuiltinESMExports()
  })
}

/** A process has its umask from whoever starts it. */
async function startUnder(place: Place, umask: string) {
  const before = process.umask(Number.parseInt(umask, 8))
  try {
    return await place.start()
  } finally {
    process.umask(before)
  }
}
