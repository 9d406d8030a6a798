internal import ModelReader

/// A lock file in which Git left a merge conflict.
struct LockConflict {
    /// What the file is to everyone else.
    let error: LockFileError
    let sides: [(name: String, lock: ModelLock)]
    /// The models that both sides have in the same state, or only one of them has.
    private(set) var undisputed = ModelLock()
    /// The paths of the models of which the sides say something else.
    private(set) var disputed: [String] = []

    /// Nil if the sides are no lock files.
    init?(_ text: String, _ error: LockFileError) {
        guard error.code == LockFileError.mergeConflict, let texts = ModelLock.sides(of: text) else { return nil }
        self.error = error
        do {
            sides = try texts.map { (name: $0.name, lock: try ModelLock(text: $0.text, file: error.file)) }
        } catch {
            return nil
        }
        for path in Set(sides.flatMap { $0.lock.models.map(\.path) }).sorted() {
            let found = sides.compactMap { $0.lock.model(at: path) }
            if found.count == 2, found[0] != found[1] {
                disputed.append(path)
            } else {
                undisputed.put(found[0])
            }
        }
    }
}
