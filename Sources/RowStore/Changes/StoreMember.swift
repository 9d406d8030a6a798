/// A container that shares a store.
public struct StoreMember: Sendable, Hashable {
    /// It grows from one member to the next.
    public let number: Int64
    /// The number of its process, on its machine.
    public let processID: Int32
    /// The name of its program.
    public let name: String

    /// Describes a member.
    public init(number: Int64, processID: Int32, name: String) {
        self.number = number
        self.processID = processID
        self.name = name
    }
}

extension StoreMember: CustomStringConvertible {
    /// `process 4711 (importer)`
    public var description: String { "process \(processID) (\(name))" }
}
