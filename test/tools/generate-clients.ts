// Run by itself (the tools write to the screen): makes three clients of every description in the folder that is named.
import { readdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { tool } from './install-tools.ts'

const folder = process.argv[2] ?? ''
const openapiTypescript = await tool('openapi-typescript')
const heyApi = await tool('@hey-api/openapi-ts')
const orval = await tool('orval')

for (const file of (await readdir(folder)).filter((name) => name.endsWith('.openapi.json'))) {
  const input = join(folder, file)
  const made = join(folder, 'clients', file.replace('.openapi.json', ''))
  const { servers } = JSON.parse(await readFile(input, 'utf8')) as { servers: { url: string }[] }
  await heyApi.createClient({
    input,
    output: { path: join(made, 'hey-api'), module: { extension: '.js' } },
    plugins: ['@hey-api/client-fetch', '@hey-api/typescript', '@hey-api/sdk'],
    logs: { level: 'silent' },
  })
  const output = { target: join(made, 'orval.ts'), client: 'fetch', mode: 'single', baseUrl: servers[0]?.url }
  await orval.generate({ input: { target: input }, output }, folder)
  const types = await openapiTypescript.default(pathToFileURL(input), { silent: true })
  await writeFile(join(made, 'openapi-typescript.ts'), openapiTypescript.astToString(types))
}
