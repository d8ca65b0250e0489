/** Why each bound has the value it has: docs/decisions/003-xlsx-library.md. */

const MIB = 1024 * 1024

/** The .xlsx file itself, pictures and all. */
export const MAX_WORKBOOK_BYTES = 100 * MIB

/** Everything that is inflated while one tab is read, all parts together. */
export const MAX_INFLATED_BYTES = 256 * MIB

/** How much larger than its compressed bytes a part may be, once it is larger than what is forgiven. */
export const MAX_INFLATION_RATIO = 200
export const FORGIVEN_INFLATED_BYTES = 32 * MIB

/** Upper bound on each of the parts that only say where things are: relationships, workbook, MIME type. */
export const MAX_DIRECTORY_PART_BYTES = 8 * MIB

/** The styles part, which real workbooks let grow far beyond need. */
export const MAX_STYLES_PART_BYTES = 64 * MIB

/** Upper bound on each part that a change has to follow into: tables, drawings, charts, comments, sources of pivot tables. */
export const MAX_FOLLOWED_PART_BYTES = 64 * MIB

/** As many as a ZIP without its 64-bit extension can hold. */
export const MAX_ZIP_ENTRIES = 65_535

/** One tag, comment or run of text. */
export const MAX_XML_TOKEN_CHARS = 1024 * 1024

/** Upper bound on the attributes of one element; worksheets written by Excel stay under 30. */
export const MAX_XML_ATTRIBUTES = 256

/** Text of one cell, in however many pieces. Excel's own limit is 32,767. */
export const MAX_CELL_TEXT_CHARS = 1024 * 1024

/** Nesting of XML elements; worksheets written by Excel stay under 20. */
export const MAX_XML_DEPTH = 128

/** Elements of a part that is edited, rows and cells aside; each is an object then. */
export const MAX_XML_ELEMENTS = 1_000_000

/** Slots of the grid, the empty ones left of a value included. */
export const MAX_GRID_CELLS = 5_000_000

/** Text of the grid, each use of a shared text counted: what answers built from the grid would hold. */
export const MAX_GRID_TEXT_CHARS = 128 * 1024 * 1024

export const MAX_SHARED_STRINGS = MAX_GRID_CELLS

/** Excel's own limit is 65,490 cell formats. */
export const MAX_CELL_FORMATS = 65_536

/** A sheet's own size (Excel specification and limits). */
export const MAX_ROWS = 1_048_576
export const MAX_COLUMNS = 16_384

/** Text of a cell that we write: what Excel can show and save again. Longer ones are read, if they are there. */
export const MAX_WRITTEN_TEXT_CHARS = 32_767
