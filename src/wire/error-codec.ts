import type { MessageInitShape } from '@bufbuild/protobuf';
import { RepriseError } from '../core/error.ts';
import { given } from '../core/json.ts';
import type { ErrorSchema, Error as WireError } from './generated/reprise/v1/server_pb.ts';
import { objectIn } from './kept-codec.ts';

/** Writes an error. */
export function errorToWire(error: RepriseError): MessageInitShape<typeof ErrorSchema> {
  const { code, message, hint, details } = error.toJSON();
  return { code, message, details: JSON.stringify(details), ...given({ hint }) };
}

/** Reads an error; a code of a newer release becomes `error.unknown`. */
export function errorFromWire(error: WireError | undefined): RepriseError {
  if (error === undefined) return RepriseError.from({ message: 'Cannot read the outcome of an append: it is missing' });
  const { code, message, hint, details } = error;
  return RepriseError.from({ code, message, details: objectIn(details), ...given({ hint }) });
}
