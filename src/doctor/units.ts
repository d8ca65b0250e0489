const units = ['bytes', 'KB', 'MB', 'GB', 'TB']

export function inUnits(bytes: number): string {
  const step = Math.min(
    units.length - 1,
    Math.max(0, Math.floor(Math.log(Math.max(1, bytes)) / Math.log(1_000))),
  )
  const amount = bytes / 1_000 ** step
  return `${step === 0 ? amount : amount.toFixed(amount < 10 ? 1 : 0)} ${units[step]}`
}
