import CoreDataSource
import RowStore

/// One input of libFuzzer: a predicate format. It is refused with an error that says where, or gives a predicate that is
/// written as a format of the same meaning. `Scripts/fuzz predicate-format` builds and runs this.
@c(LLVMFuzzerTestOneInput)
public func takeOneInput(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    let format = String(decoding: UnsafeBufferPointer(start: start, count: count), as: UTF8.self)
    do {
        let places = format.utf8.count { $0 == UInt8(ascii: "%") }
        let taken = (0..<places).map { arguments[$0 % arguments.count] }
        use(try FetchPredicate<ManagedObject>(format: format, arguments: taken))
    } catch let error as DataSourceError {
        precondition(error.code == .unreadablePredicate, "Another error than is documented: \(error)")
        precondition(!error.message.isEmpty, "An error says nothing.")
    } catch {
        preconditionFailure("An error of another type: \(error)")
    }
    return 0
}

/// Of every kind that a format takes.
private let arguments: [(any Sendable)?] = ["name", 1, 2.5, nil, ["a", "b"]]

private func use(_ predicate: FetchPredicate<ManagedObject>) {
    let format = predicate.predicateFormat
    do {
        let again = try FetchPredicate<ManagedObject>(format: format)
        precondition(again == predicate, "Another predicate is read than was written: \(format)")
        precondition(again.hashValue == predicate.hashValue, "Equal predicates with different hashes.")
        _ = try predicate.substituting(["x": 1])
    } catch {
        preconditionFailure("What was written cannot be read: \(error)")
    }
}
