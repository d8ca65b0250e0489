import { bearer, type Rowport } from '../harness.ts'
import { tool } from './install-tools.ts'
import type { SheetOfKind } from './sheet-kinds.ts'

/** Ajv at its strictest, with the formats that it has a package for: every variant compiles, and every row fits it. */
export async function holdRowsAgainstSchemas(
  rowport: Rowport,
  key: { value: string },
  sheets: readonly SheetOfKind[],
) {
  const { Ajv2020 } = await tool('ajv/dist/2020.js')
  const addFormats = (await tool('ajv-formats')).default
  const told = { schemas: 0, rows: 0, problems: [] as string[] }
  for (const { kind, formA } of sheets)
    for (const query of ['values=typed', 'values=formatted'].flatMap((values) => [
      `${values}&row_numbers=true`,
      `${values}&row_numbers=false`,
    ])) {
      const get = async (path: string) => (await rowport.get(`${path}?${query}`, bearer(key))).json()
      const schema = await get(`${formA}/schema`)
      const rows = (await get(formA)) as object[]
      try {
        const ajv = new Ajv2020({ strict: true, allErrors: true })
        ;(addFormats.default ?? addFormats)(ajv)
        const isValid = ajv.compile(schema)
        told.schemas++
        for (const row of rows) {
          told.rows++
          if (!isValid(row)) told.problems.push(`${kind} ${query}: ${ajv.errorsText(isValid.errors)}`)
        }
      } catch (error) {
        told.problems.push(`${kind} ${query}: ${(error as Error).message}`)
      }
    }
  return told
}
