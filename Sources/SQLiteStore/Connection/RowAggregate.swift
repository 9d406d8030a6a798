internal import CSQLite
internal import RowStore

/// The values of a column in related rows, collected for an aggregate.
private final class AggregatedValues {
    var values: [RowValue] = []
}

/// Returns the object that collects the values of the context's aggregate. Makes the object for the first value.
/// (https://www.sqlite.org/c3ref/aggregate_context.html)
private func state<State: AnyObject>(_ context: OpaquePointer?, _ make: () -> State) -> State? {
    let pointer = sqlite3_aggregate_context(context, Int32(MemoryLayout<UnsafeMutableRawPointer?>.size))
    guard let pointer = pointer?.assumingMemoryBound(to: UnsafeMutableRawPointer?.self) else { return nil }
    if let known = pointer.pointee { return Unmanaged<State>.fromOpaque(known).takeUnretainedValue() }
    let new = make()
    pointer.pointee = Unmanaged.passRetained(new).toOpaque()
    return new
}

/// Returns the object with the collected values, and removes it from the context. Called at the end of the aggregate. Returns
/// nil if there were no values.
private func takeState<State: AnyObject>(_ context: OpaquePointer?, _: State.Type) -> State? {
    let pointer = sqlite3_aggregate_context(context, 0)?.assumingMemoryBound(to: UnsafeMutableRawPointer?.self)
    guard let known = pointer?.pointee else { return nil }
    pointer?.pointee = nil
    return Unmanaged<State>.fromOpaque(known).takeRetainedValue()
}

/// Returns the context's memory for the pointer to its sum. The pointer is nil before the first value. The sum is not an
/// object, because reference counting would slow down each addition.
private func exactSumPointer(_ context: OpaquePointer?) -> UnsafeMutablePointer<UnsafeMutablePointer<ExactSum>?>? {
    sqlite3_aggregate_context(context, Int32(MemoryLayout<UnsafeMutablePointer<ExactSum>?>.size))?
        .assumingMemoryBound(to: UnsafeMutablePointer<ExactSum>?.self)
}

extension Connection {
    /// Registers the aggregates of related rows. Each aggregate gives the same result in SQLite as in memory.
    func addAggregates() -> Int32 {
        for aggregate in RowAggregate.all where !aggregate.isBuiltIn {
            let code = sqlite3_create_function_v2(
                handle, aggregate.name, 1, SQLITE_UTF8 | SQLITE_DIRECTONLY,
                UnsafeMutableRawPointer(bitPattern: aggregate.code + 1),
                nil,
                { context, _, arguments in
                    guard let argument = arguments?.pointee, sqlite3_value_type(argument) != SQLITE_NULL else { return }
                    state(context, AggregatedValues.init)?.values.append(value(argument))
                },
                { context in
                    let aggregate = RowAggregate(code: Int(bitPattern: sqlite3_user_data(context)) - 1)
                    let values = takeState(context, AggregatedValues.self)?.values ?? []
                    setResult(aggregate?.function.combine(values, aggregate?.kind ?? .integer) ?? .null, context)
                }, nil)
            if code != SQLITE_OK { return code }
        }
        return addExactSum()
    }

    /// Registers a sum of reals that is rounded only once, at the end.
    private func addExactSum() -> Int32 {
        sqlite3_create_function_v2(
            handle, Connection.exactSum, 1, SQLITE_UTF8 | SQLITE_DIRECTONLY, nil, nil,
            { context, _, arguments in
                guard let argument = arguments?.pointee, sqlite3_value_type(argument) != SQLITE_NULL else { return }
                guard let pointer = exactSumPointer(context) else { return }
                if pointer.pointee == nil {
                    pointer.pointee = .allocate(capacity: 1)
                    pointer.pointee?.initialize(to: ExactSum())
                }
                pointer.pointee?.pointee.add(sqlite3_value_double(argument))
            },
            { context in
                var sum = ExactSum()
                if let pointer = exactSumPointer(context), let known = pointer.pointee {
                    sum = known.move()
                    known.deallocate()
                    pointer.pointee = nil
                }
                // Infinities of opposite signs have no sum. An integer as the result makes the caller add the rows in
                // memory, which throws the error.
                if let sum = sum.value { sqlite3_result_double(context, sum) } else { sqlite3_result_int(context, 0) }
            }, nil)
    }

    /// The SQL name of the sum that is rounded only once.
    static let exactSum = "exact_sum"
}

/// An aggregate function, together with the kind of its values.
struct RowAggregate {
    let code: Int

    private static let functions: [FetchFunction] = [.sum, .min, .max, .average, .median, .mode, .stddev]
    private static let kinds: [ValueKind] = [.integer, .real, .decimal, .date, .text]

    static let all = functions.indices.flatMap { function in
        kinds.indices.compactMap { RowAggregate(code: function * kinds.count + $0) }
    }

    init?(code: Int) {
        guard RowAggregate.functions.indices.contains(code / RowAggregate.kinds.count), code >= 0 else { return nil }
        self.code = code
    }

    /// Returns nil for a function that is not used with related rows.
    init?(_ function: FetchFunction, _ kind: ValueKind) {
        guard let function = RowAggregate.functions.firstIndex(of: function),
            let kind = RowAggregate.kinds.firstIndex(of: kind)
        else { return nil }
        self.init(code: function * RowAggregate.kinds.count + kind)
    }

    var function: FetchFunction { RowAggregate.functions[code / RowAggregate.kinds.count] }
    var kind: ValueKind { RowAggregate.kinds[code % RowAggregate.kinds.count] }
    var name: String { isBuiltIn ? function.rawValue : "row_\(function.rawValue)_\(code % RowAggregate.kinds.count)" }

    /// Whether SQLite's own function has the same results. SQLite orders numbers and bytes in the same way as queries in
    /// memory.
    fileprivate var isBuiltIn: Bool { (function == .min || function == .max) && kind != .decimal }
}

/// Passes a copy of the result of a function or of a column to SQLite.
func setResult(_ value: RowValue, _ context: OpaquePointer?) {
    switch value {
    case .null: sqlite3_result_null(context)
    case .integer(let value): sqlite3_result_int64(context, value)
    case .real(let value): sqlite3_result_double(context, value)
    case .text(var text):
        text.withUTF8 {
            $0.withMemoryRebound(to: CChar.self) {
                sqlite3_result_text64(
                    context, $0.baseAddress ?? emptyText, UInt64($0.count), copied, UInt8(SQLITE_UTF8))
            }
        }
    case .blob(let bytes):
        bytes.withUnsafeBytes {
            sqlite3_result_blob64(context, $0.baseAddress ?? UnsafeRawPointer(emptyText), UInt64($0.count), copied)
        }
    }
}
