import { shownNumber } from '../../ui/number.ts'

const units = ['bytes', 'KB', 'MB', 'GB'] as const

export function sizeInWords(bytes: number): string {
  const power = bytes < 1 ? 0 : Math.min(units.length - 1, Math.floor(Math.log(bytes) / Math.log(1024)))
  const amount = bytes / 1024 ** power
  const digits = power === 0 || amount >= 100 ? 0 : 1
  return `${shownNumber(amount, digits)} ${units[power]}`
}
