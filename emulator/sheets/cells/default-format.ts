import type { JsonObject } from '../model.ts'

/** What every new spreadsheet looks like at Google, as recorded. */

const rgb = (red: number, green: number, blue: number): JsonObject => ({
  ...(red && { red }),
  ...(green && { green }),
  ...(blue && { blue }),
})

const themeColor = (colorType: string, color: JsonObject): JsonObject => ({
  colorType,
  color: { rgbColor: color },
})

const WHITE = rgb(1, 1, 1)

function textFormat(fontFamily: string): JsonObject {
  return {
    foregroundColor: {},
    fontFamily,
    fontSize: 10,
    bold: false,
    italic: false,
    strikethrough: false,
    underline: false,
    foregroundColorStyle: { rgbColor: {} },
  }
}

export function defaultFormat(): JsonObject {
  return {
    backgroundColor: WHITE,
    padding: { top: 2, right: 3, bottom: 2, left: 3 },
    verticalAlignment: 'BOTTOM',
    wrapStrategy: 'OVERFLOW_CELL',
    textFormat: textFormat('arial,sans,sans-serif'),
    backgroundColorStyle: { rgbColor: WHITE },
  }
}

/** The format a cell without any of its own is shown with. */
export function plainCellFormat(horizontalAlignment: string): JsonObject {
  return {
    backgroundColor: WHITE,
    padding: { top: 2, right: 3, bottom: 2, left: 3 },
    horizontalAlignment,
    verticalAlignment: 'BOTTOM',
    wrapStrategy: 'OVERFLOW_CELL',
    textFormat: textFormat('Arial'),
    hyperlinkDisplayType: 'PLAIN_TEXT',
    backgroundColorStyle: { rgbColor: WHITE },
  }
}

export function defaultProperties(title: string): JsonObject {
  return {
    title,
    locale: 'en_US',
    autoRecalc: 'ON_CHANGE',
    timeZone: 'Etc/GMT',
    defaultFormat: defaultFormat(),
    spreadsheetTheme: {
      primaryFontFamily: 'Arial',
      themeColors: [
        themeColor('TEXT', {}),
        themeColor('BACKGROUND', WHITE),
        themeColor('ACCENT1', rgb(0.25882354, 0.52156866, 0.95686275)),
        themeColor('ACCENT2', rgb(0.91764706, 0.2627451, 0.20784314)),
        themeColor('ACCENT3', rgb(0.9843137, 0.7372549, 0.015686275)),
        themeColor('ACCENT4', rgb(0.20392157, 0.65882355, 0.3254902)),
        themeColor('ACCENT5', rgb(1, 0.42745098, 0.003921569)),
        themeColor('ACCENT6', rgb(0.27450982, 0.7411765, 0.7764706)),
        themeColor('LINK', rgb(0.06666667, 0.33333334, 0.8)),
      ],
    },
  }
}
