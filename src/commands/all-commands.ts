import { connectableKinds } from '../providers/provider-table.ts'
import { accountCommands } from './account-commands.ts'
import { type BareCommand, type Command, serveCommand, usageLines } from './command.ts'
import { connectionCommands } from './connection-commands.ts'
import { doctorCommand } from './doctor-command.ts'
import { formCommands } from './form-commands.ts'
import { keyCommands } from './key-commands.ts'
import { sheetCommands } from './sheet-commands.ts'
import { storeCommands } from './store-commands.ts'
import { typesCommand } from './types-command.ts'
import { webhookCommands } from './webhook-commands.ts'

/** docs/contract.md#commands. */
export const commands: readonly (Command | BareCommand)[] = [
  ...accountCommands,
  ...sheetCommands,
  ...keyCommands,
  ...formCommands,
  ...webhookCommands,
  ...connectableKinds.flatMap(connectionCommands),
  ...storeCommands,
  typesCommand,
  doctorCommand,
]

export const usage = `rowport: a spreadsheet behind a JSON API

${usageLines([serveCommand, ...commands])}
  rowport --version

All commands except serve accept --json. They're safe to run while the server is running
and take effect immediately. Set ROWPORT_DATA or DATABASE_URL, and BASE_URL, as for the server.
`
