/** The settings of a user directory as one flat form, and back into what the operator API takes. */
import { html } from 'hono/html'
import * as v from 'valibot'
import { UserDirectoryBody } from '../../../requests/directory-fields.ts'
import { ROLES, type DirectorySettings, type Role } from '../../../user-directory/settings.ts'
import {
  linesField,
  selectField,
  textField,
  wholeField,
  type Attempt,
} from '../../../pages/blocks/field.ts'
import type { FormShape } from '../../form-values.ts'
import type { Html } from '../../../pages/html.ts'

const columnField = (role: Role) => `column_${role}`

/** What a tenant's administrators say; the connection, its login and the query an operator does. */
export const COLUMNS_FORM: FormShape = {
  password: 'secret',
  ...Object.fromEntries(
    ROLES.map((role) => [columnField(role), role === 'disabled' ? 'optional' : 'text'] as const),
  ),
  login: 'optional',
}

export const DIRECTORY_FORM: FormShape = {
  kind: 'text',
  host: 'text',
  port: 'whole',
  database: 'text',
  username: 'text',
  tls: 'text',
  ca_pem: 'nullable',
  query: 'text',
  ...COLUMNS_FORM,
}

const { columns, password, login, ...entries } = UserDirectoryBody.entries
const { id, username, email, name, password_hash, disabled } = columns.entries

const ColumnsEntries = {
  // an empty one says that the password which is kept stays
  password: v.pipe(
    v.string(),
    v.transform((typed) => (typed === '' ? undefined : typed)),
    password,
  ),
  column_id: id,
  column_username: username,
  column_email: email,
  column_name: name,
  column_password_hash: password_hash,
  column_disabled: disabled,
  login,
}

type Flat = v.InferOutput<v.StrictObjectSchema<typeof ColumnsEntries, undefined>>

function saidIn(flat: Flat) {
  const { password: typed, login: tryWith, column_disabled } = flat
  return {
    ...(typed !== undefined && { password: typed }),
    ...(tryWith !== undefined && { login: tryWith }),
    columns: {
      id: flat.column_id,
      username: flat.column_username,
      email: flat.column_email,
      name: flat.column_name,
      password_hash: flat.column_password_hash,
      ...(column_disabled !== undefined && { disabled: column_disabled }),
    },
  }
}

export const ColumnsFormBody = v.pipe(v.strictObject(ColumnsEntries), v.transform(saidIn))

/** Each field by itself, then all of it as the operator API checks it. */
export const DirectoryFormBody = v.pipe(
  v.strictObject({ ...entries, ...ColumnsEntries }),
  v.transform((flat): v.InferInput<typeof UserDirectoryBody> => {
    const { kind, host, port, database, username: user, tls, ca_pem, query } = flat
    return { kind, host, port, database, username: user, tls, ca_pem, query, ...saidIn(flat) }
  }),
  UserDirectoryBody,
)
export type DirectoryWish = v.InferOutput<typeof DirectoryFormBody>

/** All of it, where an administrator has said a part and an operator the rest. */
export function wishWith(
  { columns: _, caPem, ...kept }: DirectorySettings,
  said: v.InferOutput<typeof ColumnsFormBody>,
): DirectoryWish {
  return { ...kept, ca_pem: caPem, ...said }
}

/** What was sent, to be shown once more; of the password nothing. */
export function attemptOf(wish: DirectoryWish, problems: Attempt['problems'] = new Map()): Attempt {
  const { columns: named, ca_pem: caPem, password: _password, port, login, ...same } = wish
  const values = new Map<string, string>(Object.entries(same))
  values.set('ca_pem', caPem ?? '')
  values.set('port', port === undefined ? '' : String(port))
  values.set('login', login ?? '')
  for (const role of ROLES) values.set(columnField(role), named[role] ?? '')
  return { values, choices: new Map(), problems }
}

const COLUMN_LABELS: Readonly<Record<Role, readonly [label: string, hint: string]>> = {
  id: ['ID column', 'Must never change for a person.'],
  username: ['Username column', ''],
  email: ['Email column', ''],
  name: ['Name column', ''],
  password_hash: ['Password hash column', 'argon2, bcrypt, scrypt or pbkdf2.'],
  disabled: ['Disabled column', 'Without one, everyone in the table can sign in.'],
}

export function directoryFields(kept: DirectorySettings | undefined, attempt?: Attempt): Html {
  return html`${connectionFields(kept, attempt)} ${columnsFields(kept, attempt)}`
}

function connectionFields(kept: DirectorySettings | undefined, attempt?: Attempt): Html {
  return html`
    ${selectField({
      name: 'kind',
      label: 'Database',
      options: [
        { value: 'postgres', label: 'PostgreSQL' },
        { value: 'mysql', label: 'MySQL or MariaDB' },
      ],
      value: kept?.kind ?? 'postgres',
      attempt,
    })}
    ${textField({ name: 'host', label: 'Host', placeholder: 'db.example.com', value: kept?.host, attempt })}
    ${wholeField({ name: 'port', label: 'Port', hint: 'Leave empty for 5432 (PostgreSQL) or 3306 (MySQL).', isOptional: true, value: kept === undefined ? '' : String(kept.port), attempt })}
    ${selectField({
      name: 'tls',
      label: 'Encryption',
      options: [
        { value: 'verify', label: 'TLS, with certificate check' },
        { value: 'off', label: 'None (only in a private network)' },
      ],
      value: kept?.tls ?? 'verify',
      attempt,
    })}
    ${linesField({ name: 'ca_pem', label: 'CA certificate', hint: 'In PEM format, if you use your own certificate authority.', isOptional: true, value: kept?.caPem ?? '', attempt })}
    ${textField({ name: 'database', label: 'Database name', value: kept?.database, attempt })}
    ${textField({ name: 'username', label: 'Database user', hint: 'Give it read access to that one table only.', value: kept?.username, attempt })}
    ${linesField({
      name: 'query',
      label: 'Query that finds one user',
      hint: html`One SELECT. What people type to sign in is passed in lowercase, as <code>$1</code> in PostgreSQL or <code>?</code> in MySQL.`,
      rows: 4,
      value: kept?.query ?? '',
      attempt,
    })}
  `
}

/** What is a tenant's own to change. */
export function columnsFields(kept: DirectorySettings | undefined, attempt?: Attempt): Html {
  return html`
    ${textField({
      name: 'password',
      label: 'Database password',
      type: 'password',
      autocomplete: 'new-password',
      hint:
        kept === undefined
          ? 'Stored encrypted and never shown again.'
          : 'Stored encrypted. Leave empty to keep it; enter it again if you change the host, port, database, user or encryption.',
      ...(kept === undefined ? {} : { isOptional: true }),
      attempt,
    })}
    ${ROLES.map((role) => {
      const [label, hint] = COLUMN_LABELS[role]
      return textField({
        name: columnField(role),
        label,
        ...(hint !== '' && { hint }),
        value: kept?.columns[role] ?? (role === 'disabled' || kept !== undefined ? '' : role),
        isOptional: role === 'disabled',
        attempt,
      })
    })}
    ${loginField(attempt)}
  `
}

export const loginField = (attempt?: Attempt): Html =>
  textField({
    name: 'login',
    label: 'Test user',
    hint: 'A username or email address in your table. No one is signed in.',
    isOptional: true,
    attempt,
  })
