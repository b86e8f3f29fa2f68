/** What is asked of systemd, by the program that it comes with. */
import { execFile } from 'node:child_process'
import { Problem } from '../command-line/exit.ts'

/** Settles with what it has printed. */
export type Systemctl = (...args: readonly string[]) => Promise<string>

const ANSWER_MS_MAX = 90_000

/** `service` is what is started by its own `service install`. */
export const createSystemctl =
  (service: string): Systemctl =>
  (...args) =>
    new Promise((resolve, reject) => {
      execFile('systemctl', args, { timeout: ANSWER_MS_MAX }, (error, out, err) => {
        if (error === null) return resolve(out)
        reject(
          new Problem(
            'systemd_failed',
            `systemctl ${args.join(' ')} failed: ${err.trim().split('\n')[0] ?? error.message}`,
            `See: journalctl -u ${service}. To take everything back: ${service} service uninstall`,
          ),
        )
      })
    })
