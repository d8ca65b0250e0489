// npm run client: makes client/dist, which is what `@rowport/client` is published with.
import { execFileSync } from 'node:child_process'
import { globSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { brotliCompressSync, gzipSync } from 'node:zlib'
import { rolldown } from 'rolldown'

const root = join(import.meta.dirname, '..')
const source = join(root, 'client/src/rowport.ts')
const out = join(root, 'client/dist')

const bundle = await rolldown({ input: source, logLevel: 'warn' })
await bundle.write({ dir: out, format: 'esm', entryFileNames: 'rowport.js', minify: true })
await bundle.close()
const compiler = join(root, 'node_modules/.bin/tsc')
execFileSync(compiler, ['-p', join(root, 'client'), '--outDir', out], { cwd: root, stdio: 'inherit' })
// The compiler leaves the endings of imports in declarations as they are.
for (const file of globSync(join(out, '*.d.ts')))
  writeFileSync(file, readFileSync(file, 'utf8').replaceAll(/(from '\.\/[\w-]+)\.ts'/g, "$1.js'"))
const made = readFileSync(join(out, 'rowport.js'))
process.stdout.write(
  `client/dist/rowport.js: ${made.length} bytes, ${gzipSync(made).length} with gzip, ${brotliCompressSync(made).length} with brotli\n`,
)
