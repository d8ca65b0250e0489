import type { RenderOptions } from '../cells/cell-display.ts'
import { invalidEnum } from '../cells/value-input.ts'

export function readRender(value: unknown, dateTime: unknown, prefix = ''): RenderOptions {
  const values = ['FORMATTED_VALUE', 'UNFORMATTED_VALUE', 'FORMULA'] as const
  const times = ['SERIAL_NUMBER', 'FORMATTED_STRING'] as const
  const chosenValue = values.find((one) => one === (value || 'FORMATTED_VALUE'))
  const chosenTime = times.find((one) => one === (dateTime || 'SERIAL_NUMBER'))
  if (!chosenValue) {
    throw invalidEnum(`${prefix}value_render_option`, 'google.apps.sheets.v4.ValueRenderOption', value)
  }
  if (!chosenTime) {
    throw invalidEnum(
      `${prefix}date_time_render_option`,
      'google.apps.sheets.v4.DateTimeRenderOption',
      dateTime,
    )
  }
  return { value: chosenValue, dateTime: chosenTime }
}

/** How to give back what was written, where the caller asked for it. */
export function readEcho(options: Record<string, unknown>): RenderOptions | undefined {
  if (String(options.includeValuesInResponse ?? '').toLowerCase() !== 'true') return undefined
  return readRender(options.responseValueRenderOption, options.responseDateTimeRenderOption, 'response_')
}
