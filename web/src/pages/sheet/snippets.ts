import type { SheetView } from '../../../../src/dashboard/contract.ts'

/** Ready to paste; `YOUR_API_KEY` is the only thing to fill in. */
export function snippetsFor(sheet: SheetView, baseUrl: string): { name: string; code: string }[] {
  const url = `${baseUrl}${sheet.paths.formA}`
  const type = typeName(sheet.slug)
  return [
    {
      name: 'curl',
      code: `curl -H 'Authorization: Bearer YOUR_API_KEY' \\\n  '${url}?limit=10'`,
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
    {
      name: 'TypeScript',
      code: `interface ${type} {\n${sheet.columns.map(({ name, type: cell }) => `  ${propertyName(name)}: ${cell}`).join('\n')}\n}`,
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
