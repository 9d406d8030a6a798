/// A string, or an optional string: the Swift types of a string attribute.
nonisolated public protocol StringAttribute: AttributeStorable {}

extension String: StringAttribute {}

extension Optional: StringAttribute where Wrapped == String {}
