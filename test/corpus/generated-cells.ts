/** A number format, a value, and the text that arithmetic on whole numbers says Excel displays. */
export type DisplayedCell = readonly [code: string, value: number | string, text: string]

const perKind = 100
const secondsPerDay = 86_400
/** The serial number of 1970-01-01. */
const unixEpoch = 25_569

/** As different as can be, and the same in every run. */
function numberAt(at: number, below: number): number {
  return Math.floor(((at * 2_654_435_761) % 4_294_967_296) * (below / 4_294_967_296))
}

export function generatedCells(): DisplayedCell[] {
  const cells: DisplayedCell[] = []
  for (let at = 1; at <= perKind; at++) {
    const thousandths = numberAt(at, 10_000_000_000) * (at % 3 === 0 ? -1 : 1)
    const value = thousandths / 1000
    const sign = thousandths < 0 ? '-' : ''
    // Half a cent is rounded away from zero.
    const cents = Math.floor((Math.abs(thousandths) + 5) / 10)
    const whole = String(Math.floor(cents / 100))
    const grouped = whole.replace(/\B(?=(?:\d{3})+$)/g, ',')
    const decimals = String(cents % 100).padStart(2, '0')
    cells.push(['0.00', value, `${sign}${whole}.${decimals}`])
    cells.push(['#,##0.00', value, `${sign}${grouped}.${decimals}`])
    cells.push(['"$"#,##0.00', value, `${sign}$${grouped}.${decimals}`])
    cells.push(['General', thousandths, String(thousandths)])

    const tenths = numberAt(at, 100_000)
    cells.push(['0.0%', tenths / 1000, `${Math.floor(tenths / 10)}.${tenths % 10}%`])

    const [eighths, units] = [1 + numberAt(at, 7), 1 + numberAt(at * 7, 5000)]
    cells.push(['# ?/8', units + eighths / 8, `${units} ${eighths}/8`])

    const digits = 100 + numberAt(at, 900)
    const power = numberAt(at, 90) - 45
    const exponent = `${power < 0 ? '-' : '+'}${String(Math.abs(power)).padStart(2, '0')}`
    const mantissa = `${String(digits).slice(0, 1)}.${String(digits).slice(1)}`
    cells.push(['0.00E+00', Number(`${mantissa}e${power}`), `${mantissa}E${exponent}`])

    const day = 61 + numberAt(at, 2_900_000)
    const second = numberAt(at * 3, secondsPerDay)
    const [date = '', clock = ''] = new Date(((day - unixEpoch) * secondsPerDay + second) * 1000)
      .toISOString()
      .slice(0, 19)
      .split('T')
    const [year, month, dayOfMonth] = date.split('-').map(Number)
    cells.push(['yyyy-mm-dd', day, date])
    cells.push(['m/d/yyyy', day, `${month}/${dayOfMonth}/${year}`])
    cells.push(['yyyy-mm-dd hh:mm:ss', day + second / secondsPerDay, `${date} ${clock}`])
    const hour = Math.floor(second / 3600)
    const half = `${hour % 12 || 12}${clock.slice(2)} ${hour < 12 ? 'AM' : 'PM'}`
    cells.push(['h:mm:ss AM/PM', second / secondsPerDay, half])
    const days = numberAt(at, 400)
    cells.push(['[h]:mm:ss', days + second / secondsPerDay, `${days * 24 + hour}${clock.slice(2)}`])
  }
  return cells
}
