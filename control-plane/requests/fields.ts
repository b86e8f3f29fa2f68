/** What operators may send, and what it is made of. A message completes «"field" must be …». */
import * as v from 'valibot'
import { LIMITS } from '../../shared/limits.ts'
import { hasUnseen } from '../../shared/unseen.ts'

/** Nothing that is not seen; text that is shown, logged and mailed. */
export function text(wish: string, max: number) {
  const whole = `${wish} of 1 to ${max} characters`
  return v.pipe(
    v.string(whole),
    v.check((value) => value.trim() !== '' && value.length <= max, whole),
    v.check((value) => !hasUnseen(value), `${whole}, without control or invisible characters`),
    v.check((value) => value.isWellFormed(), `${whole}, as valid Unicode`),
  )
}

export function whole(min: number, max: number, of = '') {
  const wish = `a whole number${of} from ${min} to ${max}`
  return v.pipe(v.number(wish), v.integer(wish), v.minValue(min, wish), v.maxValue(max, wish))
}

export const oneOf = <const Options extends readonly string[]>(options: Options) =>
  v.picklist(options, `one of ${options.join(', ')}`)

export const name = text('text', LIMITS.nameCharactersMax)

export const flag = v.boolean('true or false')

export const NothingBody = v.strictObject({})
