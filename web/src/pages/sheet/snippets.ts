import type { SheetView } from '../../../../src/dashboard/contract.ts'

export interface Snippet {
  name: string
  code: string
}

/** Ready to paste; `YOUR_API_KEY` is the only thing to fill in. */
export function snippetsFor(sheet: SheetView, baseUrl: string): Snippet[] {
  const requests = requestSnippets(`${baseUrl}${sheet.paths.formA}`, 'YOUR_API_KEY')
  // Of a sheet that was not read yet, nobody knows the columns.
  if (sheet.columns.length === 0) return requests
  const columns = sheet.columns.map(({ name, type: cell }) => `  ${propertyName(name)}: ${cell}`)
  return [
    ...requests,
    { name: 'TypeScript', code: `interface ${typeName(sheet.slug)} {\n${columns.join('\n')}\n}` },
  ]
}

export function requestSnippets(url: string, key: string): Snippet[] {
  return [
    {
      name: 'curl',
      code: `curl -H 'Authorization: Bearer ${key}' \\\n  '${url}?limit=10'`,
    },
    {
      name: 'fetch',
      code: `const response = await fetch('${url}?limit=10', {
  headers: { Authorization: \`Bearer \${process.env.ROWPORT_KEY}\` },
})
if (!response.ok) throw new Error((await response.json()).error)
const rows = await response.json()`,
    },
    {
      name: 'Python',
      code: `import os, requests

response = requests.get(
    "${url}",
    params={"limit": 10},
    headers={"Authorization": f"Bearer {os.environ['ROWPORT_KEY']}"},
)
response.raise_for_status()
rows = response.json()`,
    },
  ]
}

function typeName(slug: string): string {
  const words = slug.split(/[^a-z0-9]+/i).filter(Boolean)
  const name = words.map((word) => word.charAt(0).toUpperCase() + word.slice(1)).join('')
  return /^[A-Z]/.test(name) ? `${name}Row` : `Sheet${name}Row`
}

function propertyName(name: string): string {
  return /^[A-Za-z_$][\w$]*$/.test(name) ? name : JSON.stringify(name)
}
