import { Component } from 'react';
import type { RepriseError } from '../../../src/core/error.ts';
import { Failure } from '../parts/states.tsx';
import { asError } from '../parts/use-answer.ts';

interface Props {
  readonly children: React.ReactNode;
}

/** Shows why a screen cannot be drawn, in its place: the bar above it still leads elsewhere. */
export class ScreenBoundary extends Component<Props, { readonly error: RepriseError | undefined }> {
  override state: { readonly error: RepriseError | undefined } = { error: undefined };

  static getDerivedStateFromError(error: unknown): { readonly error: RepriseError } {
    return { error: asError(error) };
  }

  override render(): React.ReactNode {
    const { error } = this.state;
    if (error === undefined) return this.props.children;
    return (
      <div className="screen">
        <Failure error={error} onAgain={() => this.setState({ error: undefined })} />
      </div>
    );
  }
}
