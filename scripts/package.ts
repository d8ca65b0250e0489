// npm run package: makes build/rowport-<version>.tgz, which is what `npx rowport` installs and what the image is made of.
import { execFileSync } from 'node:child_process'
import { cpSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { bundleServer } from './package/bundle-server.ts'

const root = join(import.meta.dirname, '..')
const { values } = parseArgs({ options: { out: { type: 'string' } } })
const out = values.out ?? join(root, 'build')
const stage = join(out, 'package')

const keywords = [
  'google-sheets',
  'spreadsheet',
  'csv',
  'xlsx',
  'rest-api',
  'json-api',
  'self-hosted',
  'no-code',
]

rmSync(stage, { recursive: true, force: true })
mkdirSync(join(stage, 'bin'), { recursive: true })
await bundleServer(root, join(stage, 'dist/server'))
cpSync(join(root, 'web/dist'), join(stage, 'web/dist'), {
  recursive: true,
  filter: (path) => !path.endsWith('/.sources'),
})
cpSync(join(root, 'docs'), join(stage, 'docs'), { recursive: true })
for (const name of ['README.md', 'LICENSE', 'CHANGELOG.md']) cpSync(join(root, name), join(stage, name))
cpSync(join(root, 'scripts/package/launcher.cjs'), join(stage, 'bin/rowport.cjs'))
writeFileSync(join(stage, 'package.json'), `${JSON.stringify(manifest(), null, 2)}\n`)

const packed = execFileSync('npm', ['pack', '--json', '--pack-destination', out], {
  cwd: stage,
  encoding: 'utf8',
})
const [{ filename, size, unpackedSize, entryCount }] = JSON.parse(packed)
const mb = (bytes: number) => (bytes / 1_000_000).toFixed(2)
process.stdout.write(
  `${join(out, filename)}: ${mb(size)} MB packed, ${mb(unpackedSize)} MB unpacked, ${entryCount} files\n`,
)

/** Of the clone's own, what is true of the package too: it needs no package besides itself, and runs no scripts. */
function manifest(): Record<string, unknown> {
  const { name, version, description, license, type, engines } = JSON.parse(
    readFileSync(join(root, 'package.json'), 'utf8'),
  )
  return { name, version, description, license, type, engines, keywords, bin: { rowport: 'bin/rowport.cjs' } }
}
