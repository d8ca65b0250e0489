import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'

const text = (path: string) => readFileSync(path, 'utf8')

test('nothing that is installed runs anything while it is', () => {
  assert.match(text('.npmrc'), /^ignore-scripts=true$/m)
  for (const [path, installs] of [
    ['scripts/set-up/install.mjs', /'ci'.*/g],
    ['bench/peers/installed.ts', /'ci'.*/g],
    ['test/tools/install-tools.ts', /'install',.*/g],
    ['Dockerfile', /npm ci.*/g],
  ] as const) {
    const found = text(path).match(installs) ?? []
    assert.ok(found.length > 0, path)
    for (const line of found) assert.match(line, /--ignore-scripts/, `${path}: ${line}`)
  }
})

test('no package wants to, and each is held to its bytes', () => {
  for (const path of ['package-lock.json', 'bench/peers/package-lock.json']) {
    const { packages } = JSON.parse(text(path)) as {
      packages: Record<string, { hasInstallScript?: boolean; integrity?: string; link?: boolean }>
    }
    const all = Object.entries(packages).filter(([location]) => location !== '')
    assert.ok(all.length > 50, path)
    assert.deepEqual(
      all.filter(([, { hasInstallScript }]) => hasInstallScript).map(([location]) => location),
      [],
    )
    assert.deepEqual(
      all.filter(([, { integrity }]) => !integrity?.startsWith('sha512-')).map(([location]) => location),
      [],
    )
  }
})

test('the tools of the tests are held to their bytes; what some of them want to run is never run', () => {
  for (const [folder, wanting] of [
    ['test/tools', ['node_modules/@scarf/scarf', 'node_modules/esbuild']],
    ['test/tools/agents', ['node_modules/@modelcontextprotocol/inspector']],
  ] as const) {
    const { packages } = JSON.parse(text(`${folder}/package-lock.json`)) as {
      packages: Record<string, { hasInstallScript?: boolean; integrity?: string }>
    }
    const all = Object.entries(packages).filter(([location]) => location !== '')
    const withScripts = all
      .filter(([, { hasInstallScript }]) => hasInstallScript)
      .map(([location]) => location)
    assert.deepEqual(withScripts, wanting)
    assert.ok(all.every(([, { integrity }]) => integrity?.startsWith('sha512-')))
    assert.match(text(`${folder}/.npmrc`), /^ignore-scripts=true$/m)
  }
})

test('npm itself runs no script before or after ours, which it would now leave out', () => {
  const { scripts } = JSON.parse(text('package.json')) as { scripts: Record<string, string> }
  const around = Object.keys(scripts).filter((name) => /^(?:pre|post)/.test(name) || name === 'prepare')
  assert.deepEqual(around, [])
})

test('images are named by their exact version', () => {
  const images = [
    ...[...text('compose.yaml').matchAll(/image: (\S+)/g)].map(([, image]) => image ?? ''),
    ...[...text('Dockerfile').matchAll(/^FROM (\S+:\S+)/gm)].map(([, image]) => image ?? ''),
  ]
  assert.ok(images.length >= 5, images.join())
  for (const image of images) assert.match(image, /:\d+\.\d+(?:\.\d+)?(?:-\w+)?(?:@sha256:[0-9a-f]{64})?$/)
  // PostgreSQL has no third number.
  const short = images.filter((image) => !/:\d+\.\d+\.\d+/.test(image))
  assert.ok(
    short.every((image) => image.startsWith('postgres:')),
    short.join(),
  )
})

test('the image is built with all that the bundler needs: what is compiled for a system is an optional package of its own', () => {
  const lock = JSON.parse(text('package-lock.json')) as { packages: Record<string, { optional?: boolean }> }
  const bindings = Object.keys(lock.packages).filter((name) => name.includes('@rolldown/binding-linux-'))
  assert.ok(bindings.length > 0 && bindings.every((name) => lock.packages[name]?.optional))
  assert.doesNotMatch(text('Dockerfile'), /--omit|--no-optional|--production/)
})
