import type { LanguageModel, ToolSet } from 'ai';
import type { EffectClass } from '../../core/recording/effects.ts';
import { modelAt } from './recorded-model.ts';
import { toolsAt } from './recorded-tools.ts';
import type { RecordingTarget } from './recording-target.ts';

/** The settings of a call, or of an agent, that choose models and tools. */
export interface ModelSettings {
  readonly model?: LanguageModel;
  readonly tools?: ToolSet;
  readonly prepareStep?: unknown;
  readonly prepareCall?: unknown;
}

type Prepare = (options: never) => PromiseLike<ModelSettings | undefined> | ModelSettings | undefined;

/** Where to record, and the effect classes of the tools. */
export interface SettingsRecording {
  readonly target: RecordingTarget;
  readonly effects?: Readonly<Record<string, EffectClass>>;
}

/** Returns the settings with a model and tools that record, even those that are chosen later. */
export function recordedSettings<T extends ModelSettings>(settings: T, recording: SettingsRecording): T {
  const { target, effects = {} } = recording;
  const { model, tools, prepareStep, prepareCall } = settings;
  return {
    ...settings,
    ...(model === undefined ? {} : { model: modelAt(target, model) }),
    ...(tools === undefined ? {} : { tools: toolsAt(target, tools, effects) }),
    ...(isPrepare(prepareStep) ? { prepareStep: prepared(prepareStep, recording) } : {}),
    ...(isPrepare(prepareCall) ? { prepareCall: prepared(prepareCall, recording) } : {}),
  };
}

const isPrepare = (value: unknown): value is Prepare => typeof value === 'function';

function prepared(prepare: Prepare, recording: SettingsRecording): Prepare {
  return async (options) => {
    const chosen = await prepare(options);
    return chosen === undefined || chosen === null ? chosen : recordedSettings(chosen, recording);
  };
}
