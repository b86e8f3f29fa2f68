/** What the command line tool reports of the integrator's machine, field by field. */
import * as v from 'valibot'
import { LIMITS } from '../../shared/limits.ts'
import { hasUnseen } from '../../shared/unseen.ts'

/** It is shown in terminals: nothing but line breaks may move their cursor. */
function text(charactersMax: number) {
  const wish = `at most ${charactersMax} characters, without control characters`
  return v.pipe(
    v.string(wish),
    v.maxLength(charactersMax, wish),
    v.check((value) => value.isWellFormed() && !hasUnseen(value.replaceAll('\n', ' ')), wish),
  )
}

const VERSION_WISH = `a version like 1.2.3, at most ${LIMITS.toolVersionCharactersMax} characters`
const version = v.pipe(
  v.string(VERSION_WISH),
  v.regex(/^\d[0-9A-Za-z.+-]*$/, VERSION_WISH),
  v.maxLength(LIMITS.toolVersionCharactersMax, VERSION_WISH),
)

const NAME_WISH = `a name like express, at most ${LIMITS.projectNameCharactersMax} characters, or null`
const projectName = v.nullable(
  v.pipe(
    v.string(NAME_WISH),
    v.regex(/^[\x21-\x7e][\x20-\x7e]*$/, NAME_WISH),
    v.maxLength(LIMITS.projectNameCharactersMax, NAME_WISH),
  ),
)

const CHECK_WISH = `a name like config_found, at most ${LIMITS.checkNameCharactersMax} characters`
const STATUS_WISH = 'one of pass, fail, warn, skip'
const checks = v.pipe(
  v.array(
    v.strictObject({
      check: v.pipe(
        v.string(CHECK_WISH),
        v.regex(/^[a-z][a-z0-9_]*$/, CHECK_WISH),
        v.maxLength(LIMITS.checkNameCharactersMax, CHECK_WISH),
      ),
      status: v.picklist(['pass', 'fail', 'warn', 'skip'], STATUS_WISH),
      detail: v.optional(text(LIMITS.selfReportTextCharactersMax), ''),
      next_action: v.optional(text(LIMITS.selfReportTextCharactersMax), ''),
    }),
    'a list of checks',
  ),
  v.maxLength(LIMITS.selfReportChecksMax, `at most ${LIMITS.selfReportChecksMax} checks`),
)

export const SelfReportBody = v.strictObject({
  cli_version: version,
  project: v.strictObject({ framework: projectName, language: projectName }, 'an object'),
  checks,
})
