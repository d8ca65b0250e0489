import type { OrderedJson } from '../../sheets/rows/schema/ordered-json.ts'

type Json = { [key: string]: OrderedJson }

/** What several operations of one description have in common: it stands in the components once, and they refer to it. */
export interface SharedComponents {
  /** The reference; what was shared under this name before is the same. */
  schema(name: string, made: OrderedJson): Json
  response(name: string, made: OrderedJson): Json
  schemas(): Json
  responses(): Json
}

export function createSharedComponents(): SharedComponents {
  const schemas = new Map<string, OrderedJson>()
  const responses = new Map<string, OrderedJson>()
  return {
    schema: (name, made) => refer(schemas, 'schemas', name, made),
    response: (name, made) => refer(responses, 'responses', name, made),
    schemas: () => Object.fromEntries(schemas),
    responses: () => Object.fromEntries(responses),
  }
}

function refer(known: Map<string, OrderedJson>, kind: string, name: string, made: OrderedJson): Json {
  if (!known.has(name)) known.set(name, made)
  return { $ref: `#/components/${kind}/${name}` }
}
