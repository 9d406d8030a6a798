// A stand-in for the few declarations of SwiftUI that the library uses, with the isolation of Apple's SDK of 2025. Tests compile
// the library's SwiftUI code against it. No declaration does anything.

public protocol DynamicProperty {
    mutating func update()
}

extension DynamicProperty {
    public mutating func update() {}
}

@propertyWrapper
public struct State<Value>: DynamicProperty {
    public init(wrappedValue: Value) { value = wrappedValue }

    public var wrappedValue: Value {
        get { value }
        nonmutating set { _ = newValue }
    }

    private let value: Value
}

@propertyWrapper
public struct Environment<Value>: DynamicProperty {
    private let keyPath: KeyPath<EnvironmentValues, Value>

    public init(_ keyPath: KeyPath<EnvironmentValues, Value>) { self.keyPath = keyPath }

    public var wrappedValue: Value { EnvironmentValues()[keyPath: keyPath] }
}

public protocol EnvironmentKey {
    associatedtype Value
    static var defaultValue: Value { get }
}

public struct EnvironmentValues {
    public init() {}

    public subscript<Key: EnvironmentKey>(key: Key.Type) -> Key.Value {
        get { Key.defaultValue }
        set { _ = newValue }
    }
}

@MainActor @preconcurrency
public protocol View {
    associatedtype Body: View
    @MainActor @preconcurrency var body: Body { get }
}

extension Never: View {
    public var body: Never { fatalError("no body") }
}

public struct Text: View {
    public init(_ text: String) {}

    public var body: Never { fatalError("no body") }
}

public struct List<Content: View>: View {
    public init<Rows: RandomAccessCollection>(_ rows: Rows, @ViewBuilder row: (Rows.Element) -> Content)
    where Rows.Element: Identifiable {}

    public var body: Never { fatalError("no body") }
}

@resultBuilder
public struct ViewBuilder {
    public static func buildBlock<Content: View>(_ content: Content) -> Content { content }
}

extension View {
    public nonisolated func environment<Value>(_ keyPath: WritableKeyPath<EnvironmentValues, Value>, _ value: Value)
        -> some View
    {
        self
    }
}
