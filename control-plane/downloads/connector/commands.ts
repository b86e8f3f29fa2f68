/** Every command, in the order in which they are needed. What is not named here does not exist. */
import type { Command } from './commands/command.ts'
import { diag } from './commands/diag.ts'
import { join } from './commands/join.ts'
import { leave } from './commands/leave.ts'
import { run } from './commands/run.ts'
import { service } from './commands/service.ts'
import { status } from './commands/status.ts'

export const COMMANDS: readonly Command[] = [join, run, status, diag, service, leave]
