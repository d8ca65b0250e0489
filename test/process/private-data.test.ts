import assert from 'node:assert/strict'
import { statSync } from 'node:fs'
import fsPromises, { chmod, mkdir, symlink, writeFile } from 'node:fs/promises'
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

test('all of the folders of sheets and uploads is closed, whatever it is called, and nothing that a link leads to', {
  skip,
}, async (t) => {
  const place = await freshPlace(t)
  const elsewhere = join(place.folder, 'elsewhere')
  const openFiles = [
    'sheets/products.csv',
    'sheets/products.saved-too-late-0a1b2c3d.csv',
    'sheets/.products.csv.0123456789abcdef.tmp',
    'sheets/older/products.csv',
    'files/acc_1/x.saved-too-late-0a1b2c3d.csv',
    'files/acc_1/.abcdefghijkl.part.csv',
    'rowport.db-journal',
    'secret.0123456789ab.tmp',
  ]
  const openFolders = ['sheets', 'sheets/older', 'files', 'files/acc_1']
  const theirs = ['elsewhere/stock.csv', 'elsewhere', 'data/connected.csv', 'data/rowport.db.theirs']
  for (const folder of [...openFolders, '../elsewhere']) {
    await mkdir(join(place.dataFolder, folder), { recursive: true })
    await chmod(join(place.dataFolder, folder), 0o755)
  }
  for (const file of [
    ...openFiles,
    ...theirs.filter((name) => name !== 'elsewhere').map((name) => `../${name}`),
  ]) {
    await writeFile(join(place.dataFolder, file), 'a\n')
    await chmod(join(place.dataFolder, file), 0o644)
  }
  for (const folder of ['sheets', 'files', 'files/acc_1']) {
    await symlink(elsewhere, join(place.dataFolder, folder, 'linked'))
    await symlink(join(elsewhere, 'stock.csv'), join(place.dataFolder, folder, 'linked.csv'))
  }
  const before = process.umask(0o022)
  t.after(() => process.umask(before))
  assert.deepEqual(await closeToOthers(place.dataFolder), [])
  assert.deepEqual(modesIn(place, [...openFolders, ...openFiles]), [
    ...openFolders.map((name) => `${name} 700`),
    ...openFiles.map((name) => `${name} 600`),
  ])
  assert.deepEqual(modesIn({ dataFolder: place.folder }, theirs), [
    ...['elsewhere/stock.csv 644', 'elsewhere 755', 'data/connected.csv 644', 'data/rowport.db.theirs 644'],
  ])
})

test('what was saved too late beside a sheet is closed at the next start', { skip }, async (t) => {
  const place = await freshPlace(t)
  const first = await startUnder(place, '022')
  first.child.kill('SIGTERM')
  await first.ended
  const copy = 'sheets/products.saved-too-late-0a1b2c3d.csv'
  await writeFile(join(place.dataFolder, copy), 'a\n')
  await chmod(join(place.dataFolder, copy), 0o644)
  await startUnder(place, '022')
  assert.deepEqual(modesIn(place, [copy]), [`${copy} 600`])
})

test('with the database elsewhere, what owners have uploaded is closed too, and a folder that holds none is nobody’s to touch', {
  skip,
}, async (t) => {
  const place = await freshPlace(t)
  const upload = 'files/acc_1/x.csv'
  // Nothing answers there: what lies on the disk is closed before the database is asked.
  const env = { DATABASE_URL: 'postgres://user:password@127.0.0.1:1/x', ROWPORT_SECRET: 's'.repeat(43) }
  await mkdir(join(place.dataFolder, 'files', 'theirs'), { recursive: true })
  for (const folder of ['.', 'files', 'files/theirs']) await chmod(join(place.dataFolder, folder), 0o755)
  assert.equal((await place.rowportHere(['account', 'list'], { env })).code, 1)
  assert.deepEqual(modesIn(place, ['.', 'files', 'files/theirs']), ['. 755', 'files 755', 'files/theirs 755'])
  await mkdir(join(place.dataFolder, 'files', 'acc_1'))
  await writeFile(join(place.dataFolder, upload), 'a\n')
  await chmod(join(place.dataFolder, upload), 0o644)
  assert.equal((await place.rowportHere(['account', 'list'], { env })).code, 1)
  assert.deepEqual(modesIn(place, ['.', 'files', upload]), ['. 700', 'files 700', `${upload} 600`])
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
