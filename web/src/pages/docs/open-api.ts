/** As much of an OpenAPI 3.1 description as the reference shows. */
export interface OpenApi {
  paths: Record<string, Record<string, OpenApiOperation>>
}

interface OpenApiOperation {
  summary?: string
  description?: string
  parameters?: OpenApiParameter[]
  requestBody?: { content?: Record<string, { example?: unknown }> }
  responses?: Record<string, { description?: string; content?: Record<string, { example?: unknown }> }>
}

export interface OpenApiParameter {
  name?: string
  in?: string
  description?: string
  example?: unknown
  schema?: { enum?: unknown[] }
}

export interface Operation {
  method: string
  path: string
  summary: string
  description: string
  parameters: OpenApiParameter[]
  requestExample: unknown
  responses: { status: string; description: string; example: unknown }[]
}

const methods = ['get', 'post', 'put', 'patch', 'delete']

export function operationsOf({ paths }: OpenApi): Operation[] {
  return Object.entries(paths).flatMap(([path, item]) =>
    methods.flatMap((method) => {
      const operation = item[method]
      if (!operation) return []
      return [
        {
          method: method.toUpperCase(),
          path,
          summary: operation.summary ?? '',
          description: operation.description ?? '',
          parameters: operation.parameters?.filter(({ name }) => name !== undefined) ?? [],
          requestExample: firstExample(operation.requestBody?.content),
          responses: Object.entries(operation.responses ?? {}).map(([status, response]) => ({
            status,
            description: response.description ?? '',
            example: firstExample(response.content),
          })),
        },
      ]
    }),
  )
}

function firstExample(content: Record<string, { example?: unknown }> | undefined): unknown {
  return Object.values(content ?? {}).find(({ example }) => example !== undefined)?.example
}
