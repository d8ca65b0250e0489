/** What a proxy in front of the server takes away from every address: '' or `/rowport`. The server writes it in. */
export const basePath =
  document.querySelector('meta[name="rowport-base"]')?.getAttribute('content')?.replace(/\/+$/, '') ?? ''
