import type { NewSpreadsheet } from '../../emulator/google-api.ts'

export const ada = 'ada@example.com'
export const grace = 'grace@example.com'

/** What two people have at the local Google, and have not picked for Rowport yet. Typed as people type: `2026-11-02` becomes a date. */
export const demoSpreadsheets: readonly NewSpreadsheet[] = [
  {
    title: 'Lamp shop',
    owner: ada,
    pickedBy: [],
    tabs: [
      {
        title: 'Products',
        values: [
          ['name', 'category', 'price', 'in stock', 'added'],
          ['Desk lamp', 'Lighting', 59.9, true, '2026-03-02'],
          ['Floor lamp', 'Lighting', 129, true, '2026-04-17'],
          ['Oak table', 'Furniture', 420, false, '2026-05-28'],
          ['Wool rug', 'Textiles', 240, true, '2026-09-11'],
        ],
      },
      {
        title: 'Orders',
        values: [
          ['number', 'customer', 'total', 'ordered'],
          [1001, 'Noether', 189.9, '2026-11-02 09:30'],
          [1002, 'Lovelace', 420, '2026-11-03 16:05'],
        ],
      },
    ],
  },
  {
    title: 'Team',
    owner: ada,
    pickedBy: [],
    tabs: [
      {
        title: 'People',
        values: [
          ['name', 'role', 'since'],
          ['Emmy', 'Buyer', '2024-01-08'],
          ['Sofia', 'Shop', '2025-06-02'],
        ],
      },
    ],
  },
  {
    title: 'Library',
    owner: grace,
    pickedBy: [],
    tabs: [
      {
        title: 'Books',
        values: [
          ['title', 'author', 'year', 'lent'],
          ['Sketch of the Analytical Engine', 'L. F. Menabrea', 1842, false],
          ['The Education of a Computer', 'G. M. Hopper', 1952, true],
        ],
      },
    ],
  },
]
