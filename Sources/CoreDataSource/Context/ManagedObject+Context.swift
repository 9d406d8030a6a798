extension ManagedObject {
    /// The context that the object belongs to; nil once the container is gone, and for the object that ``ListRow`` makes for
    /// one read.
    public final var context: ManagedObjectContext? {
        // Only a context makes a home with a context.
        home.context.map { unsafeDowncast($0, to: ManagedObjectContext.self) }
    }
}
